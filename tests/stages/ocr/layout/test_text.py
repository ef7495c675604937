"""Lines to paragraphs, and text with scripts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.engines.textlayer import Span, plain, tidy, with_scripts
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.reading_order import collect_words, paragraphs

Column = Callable[..., list[Line]]


def test_lines_of_a_paragraph_are_joined_and_paragraphs_parted(
    column: Column, line: Callable[..., Line]
) -> None:
    lines = [*column("A ball", "rolls."), line("Where to?", y=150)]
    assert paragraphs(lines) == "A ball rolls.\n\nWhere to?"


def test_a_part_begins_a_paragraph(column: Column) -> None:
    assert paragraphs(column("A ball.", "(a) How fast?", "(b) How far?")).count("\n\n") == 2


def test_divided_words_are_joined_and_hyphens_of_their_own_kept(column: Column) -> None:
    assert paragraphs(column("a relativis-", "tic drive")) == "a relativistic drive"
    assert paragraphs(column("soft hy\u00ad", "phens")) == "soft hyphens"
    elsewhere = collect_words(column("a non-zero value"))
    assert paragraphs(column("a non-", "zero value"), elsewhere) == "a non-zero value"


def test_chinese_lines_are_joined_without_a_space(column: Column) -> None:
    assert paragraphs(column("恒星脱离", "主序")) == "恒星脱离主序"


@pytest.mark.parametrize("end", [".", ", so it rolls.", ") it rolls."])
def test_punctuation_follows_a_formula_that_was_broken_without_a_space(
    column: Column, end: str
) -> None:
    assert paragraphs(column("it is $v=at$", end)) == f"it is $v=at${end}"
    assert paragraphs(column("it is $v=at$", "and .5 m")) == "it is $v=at$ and .5 m"


def test_a_sentence_runs_over_the_page(line: Callable[..., Line]) -> None:
    lines = [line("A ball that", y=800), line("rolls.", y=60, page=2), line("End.", y=60, page=3)]
    assert paragraphs(lines) == "A ball that rolls.\n\nEnd."


def spans(*parts: tuple[str, float, float]) -> list[Span]:
    """Spans of (text, size, rise) one after the other on the baseline 100."""
    made, x = [], 0.0
    for text, size, rise in parts:
        made.append(Span(text, size, False, False, x, x + size * len(text) / 2, 100 - rise))
        x += size * len(text) / 2
    return made


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([("10", 10, 0), ("-3", 7, 4)], "10^{-3}"),
        ([("v", 10, 0), ("0", 7, -2), (" = 2", 10, 0)], "v_{0} = 2"),
        ([("19", 10, 0), ("◦", 7, 4)], "19°"),
        ([("f", 10, 0), ("′", 7, 4), ("(x)", 10, 0)], "f′(x)"),
        ([("a small ", 10, 0), ("note", 7, 0)], "a small note"),
    ],
)
def test_scripts_are_kept(parts: list[tuple[str, float, float]], text: str) -> None:
    assert with_scripts(spans(*parts), 10) == text


def test_letters_of_mathematics_become_plain_and_meaning_stays() -> None:
    assert plain("𝑣 ﬂow ² ½ （）ℎ") == "v flow ² ½ （）h"


@pytest.mark.parametrize(
    ("raw", "text"),
    [("0 ≤x≤4", "0 ≤ x ≤ 4"), ("n+ 2", "n + 2"), ("1 −2", "1 - 2"), ("10^{−3}", "10^{-3}")],
)
def test_space_around_relations_is_even(raw: str, text: str) -> None:
    assert tidy(raw) == text


@given(st.text())
def test_tidying_twice_changes_nothing(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)
