"""How two readings differ, in words."""

from __future__ import annotations

import pytest

from glyphtex.latex import find_differences


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        (r"\frac12", r"\dfrac{1}{2}", []),
        ("x^2+3.5", "x^2+3.6", ["numbers: 3.5 and 3.6"]),
        ("x+1", "x-1", ["signs: + and -"]),
        ("x=1", "x1", ["signs: = and none"]),
        (r"a\in B", r"a\notin B", [r"signs: \in and none", r"negations: none and \notin"]),
        (r"\alpha", "a", [r"symbols: \alpha and a"]),
        ("x_{2}", "x^{2}", ["the arrangement differs: x_{2} and x^{2}"]),
        (r"\ce{Fe^2+}", r"\ce{Fe^3+}", ["numbers: 2 and 3"]),
    ],
)
def test_differences_in_words(first: str, second: str, lines: list[str]) -> None:
    assert find_differences(first, second) == lines


def test_long_lists_are_cut() -> None:
    (line,) = find_differences("abcdefgh", "x")
    assert line == "symbols: a b c d ... and x"
