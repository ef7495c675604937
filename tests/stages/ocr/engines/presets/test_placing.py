"""Where lines of replies are put on a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.engines.engine import Reading
from omibench.stages.ocr.engines.page_models import estimate_type_size, place_block, place_runs
from omibench.stages.ocr.layout.reading_order import paragraphs
from omibench.stages.ocr.layout.scans import build_lines

WORDS = "A ball of mass m falls from a tower of height h onto a plate of steel and stays there. "
BOX = (100.0, 200.0, 700.0, 290.0)
"""Room for three lines of type of 25 pixels."""


def join(lines: list[Reading]) -> str:
    """The paragraphs that the lines make."""
    return paragraphs(build_lines(lines, 1, 0.4, "test"))


def test_a_block_is_cut_into_the_lines_that_it_has_room_for() -> None:
    size = estimate_type_size([(WORDS, BOX)])
    assert size == pytest.approx(32, abs=4)
    lines = list(place_block(WORDS, BOX, size))
    assert len(lines) in (2, 3)
    assert join(lines) == WORDS.strip()
    assert all(BOX[1] <= line.quad[0][1] < line.quad[2][1] <= BOX[3] for line in lines)


def test_a_heading_keeps_its_larger_type() -> None:
    lines = list(place_block("Mechanics", (100, 100, 320, 148), 30))
    assert len(lines) == 1
    assert lines[0].quad[2][1] - lines[0].quad[0][1] > 36


def test_formulas_are_never_cut() -> None:
    formula = r"$\frac{a + b + c + d}{e + f + g + h}$"
    lines = list(place_block(f"so that {formula} holds well - for all", (0, 0, 120, 300), 20))
    assert sum(formula in line.text for line in lines) == 1
    assert not any(line.text.endswith("-") for line in lines)


def test_chinese_is_cut_between_characters_and_joined_without_spaces() -> None:
    text = "一个质量为三千克的小球从二十米高的塔上自由落下落到钢板上停住。"
    lines = list(place_block(text, (0, 0, 300, 110), 28))
    assert len(lines) > 1
    assert join(lines) == text


def test_an_empty_line_ends_a_paragraph() -> None:
    lines = list(place_runs([["One", "two", "", "three"]], [], 1000, 1400))
    assert join(lines) == "One two\n\nthree"


@given(
    st.lists(st.sampled_from(["a b $c d$ e-", "中文字", "", "word " * 30]), max_size=6),
    st.floats(10, 500),
    st.floats(10, 500),
    st.one_of(st.none(), st.floats(1, 100)),
)
def test_nothing_of_a_block_is_lost(
    rows: list[str], width: float, height: float, size: float | None
) -> None:
    text = "\n".join(rows)
    lines = list(place_block(text, (0, 0, width, height), size))
    assert "".join("".join(line.text.split()) for line in lines) == "".join(text.split())
    tops = [line.quad[0][1] for line in lines]
    assert tops == sorted(tops)
