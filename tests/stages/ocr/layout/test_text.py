"""Lines to paragraphs, and text with scripts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stages.ocr.printed import set_lines

from omibench.stages.ocr.engines.textlayer import Span, plain, tidy, with_scripts
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.reading_order import collect_words, paragraphs


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("A ball\nrolls.\n\nWhere to?", "A ball rolls.\n\nWhere to?"),
        ("A ball.\n(a) How fast?\n(b) How far?", "A ball.\n\n(a) How fast?\n\n(b) How far?"),
        ("a relativis-\ntic drive", "a relativistic drive"),
        ("soft hy\u00ad\nphens", "soft hyphens"),
        ("a non-\nzero value", "a non-zero value"),
        ("恒星脱离\n主序", "恒星脱离主序"),
        ("it is $v=at$\n.", "it is $v=at$."),
        ("it is $v=at$\n, so it rolls.", "it is $v=at$, so it rolls."),
        ("it is $v=at$\n) it rolls.", "it is $v=at$) it rolls."),
        ("it is $v=at$\nand .5 m", "it is $v=at$ and .5 m"),
    ],
)
def test_lines_are_joined_to_paragraphs(lines: str, text: str) -> None:
    elsewhere = collect_words(set_lines("a non-zero value"))
    assert paragraphs(set_lines(lines), elsewhere) == text


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
