"""Where formulas stand in a text, and where dollars are money."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphtex.latex import find_formulas, replace_formulas, split_outside


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("Let $x$ be.", ["x"]),
        ("It costs $5 and $7.", []),
        ("It costs $5, and $x$ more.", ["x"]),
        (r"It costs \$5 and \$x.", []),
        (r"$a$ and \(b\), \[c\] or $$d$$", ["a", "b", "c", "d"]),
        (r"$x = \$5$", [r"x = \$5"]),
        ("from $ a to $ b", []),
        (r"$ \alpha $ is loose", [r" \alpha "]),
        ("$$ and no more", []),
        ("$$$$ is empty", [""]),
        ("$a", []),
        ("(A) $\\frac{1}{2}$ (B) $2$", [r"\frac{1}{2}", "2"]),
    ],
)
def test_formulas_of_a_text(text: str, formulas: list[str]) -> None:
    assert [span.latex for span in find_formulas(text)] == formulas


def test_a_display_is_told_from_a_formula_in_the_line() -> None:
    spans = find_formulas(r"$a$ $$b$$ \(c\) \[d\]")
    assert [span.display for span in spans] == [False, True, False, True]


@given(st.text(alphabet="a$\\()[]1 ", max_size=40))
def test_spans_do_not_overlap_and_the_rest_stays(text: str) -> None:
    spans = find_formulas(text)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert replace_formulas(text, lambda span: text[span.start : span.end]) == text


def test_formulas_are_replaced_with_their_delimiters() -> None:
    assert replace_formulas("a $x$ b $$y$$", lambda span: f"<{span.latex}>") == "a <x> b <y>"


def test_ten_thousand_dollars_take_no_time() -> None:
    assert find_formulas("$ " * 10_000) == []


def test_a_text_is_split_outside_of_its_formulas() -> None:
    semicolon = re.compile("; ")
    assert split_outside(semicolon, "$(1; 2)$; 3; $x$") == ["$(1; 2)$", "3", "$x$"]
    assert split_outside(semicolon, "no more") == ["no more"]
