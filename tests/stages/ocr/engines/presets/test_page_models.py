"""Lines that replies of document readers make, and where they are put on a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.engines.engine import Reading
from omibench.stages.ocr.engines.page_models import (
    ends_in_loop,
    estimate_type_size,
    list_lines,
    place_block,
    place_runs,
    read_html_table,
    read_line,
    read_otsl,
    wrap_formula,
)
from omibench.stages.ocr.layout.reading_order import paragraphs
from omibench.stages.ocr.layout.scans import build_lines

# Markdown, tables and loops in the replies of document readers.


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("## 2. Waves", "2. Waves"),
        ("#5 is a number", "#5 is a number"),
        ("**2.** A *thin* lens", "2. A thin lens"),
        ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
        (r"\(a_1*b*c\) and $x*y*z$", r"$a_1*b*c$ and $x*y*z$"),
        (r"1\. The set \{1, 2\}", "1. The set {1, 2}"),
        ("name: ____ and __bold__", "name: ____ and bold"),
        ("| a | $b$ |", "a | $b$"),
        (r"$$ E = mc^2 $$", "$E = mc^2$"),
    ],
)
def test_a_line_is_as_it_is_printed(line: str, text: str) -> None:
    assert read_line(line) == text


def test_displays_of_several_rows_and_tables_of_pipes_are_lines() -> None:
    page = "So\n$$\na\n= b\n$$\n\n| t | x |\n|---|:--|\n| 1 | 2 |\n```\nEnd"
    assert list_lines(page) == ["So", "$a = b$", "", "t | x", "1 | 2", "End"]


def test_a_display_that_does_not_end_is_text() -> None:
    assert list_lines("So \\[ a\nb") == ["So [ a", "b"]


@pytest.mark.parametrize("formula", ["x^2", "$x^2$", r"\(x^2\)", r"\[ x^2 \]", "$$\nx^2\n$$"])
def test_a_formula_stands_between_single_dollars(formula: str) -> None:
    assert wrap_formula(formula) == "$x^2$"


def test_formulas_beside_each_other_are_not_taken_for_one() -> None:
    assert wrap_formula("") == ""
    assert read_line(r"\(a\) or \(b\)") == "$a$ or $b$"


def test_cells_of_otsl_are_rows_and_merged_ones_stand_once() -> None:
    table = "<fcel>Speed<lcel><nl><fcel>m/s<fcel>km/h<nl><ucel><fcel>36<nl><ecel><ecel><nl>"
    assert read_otsl(table) == ["Speed", "m/s | km/h", "36"]
    assert read_otsl("Table 1<fcel>a<nl>") == ["Table 1", "a"]


def test_cells_of_html_are_rows_whether_tags_end_or_not() -> None:
    table = "<table><tr><th rowspan=2>a</th><td>b &amp; c<br>d</td><tr><td>x < 3</table>after"
    assert read_html_table(table) == ["a | b & c d", "x < 3", "after"]
    assert read_html_table("<script>alert(1)</script>") == ["alert(1)"]


@pytest.mark.parametrize(
    ("text", "is_loop"),
    [
        ("So x = 1 and " * 40, True),
        ("start " + "a" * 400, True),
        ("Name: " + "_" * 400, False),
        ("Contents " + ". " * 300, False),
        ("0 | 1 | 0 | 1", False),
        ("", False),
    ],
)
def test_a_loop_is_twenty_repeats_of_something_that_can_be_read(text: str, is_loop: bool) -> None:
    assert ends_in_loop(text) == is_loop


# Where lines of replies are put on a page.

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
    above, below = lines[0].quad[0][1] - BOX[1], BOX[3] - lines[-1].quad[2][1]
    assert above == pytest.approx(below), "lines are in the middle of their shares of the box"


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
