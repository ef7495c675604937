"""Which formulas of a text a reading has exactly."""

from __future__ import annotations

import pytest
from benchmarks.formula_matching import find_exact

TRUTH = r"1. Let $x^{2}$ be $3/4$, and $B = 56\,\mathrm{m/s^{2}}$ for $a$; then $b = 3$ holds."
REST = r"for $a$; then $b = 3$ holds."


@pytest.mark.parametrize(
    ("reading", "exact"),
    [
        (TRUTH, {0, 1, 2, 3, 4}),
        (rf"1. Let $x ^ 2$ be 3/4, and $B=56$ m/s$^{{2}}$ {REST}", {0, 1, 3, 4}),
        (rf"1. Let x^2 be $\frac34$, and $B = 56\mathrm{{m}}/\mathrm{{s}}^2$ {REST}", {2, 3, 4}),
        (rf"1. Let $x^2$ be $3/4,$ and $B = 56\,\mathrm{{m}}$ {REST}", {0, 1, 3, 4}),
        (r"1. Let $x^{2} be 3/4$, and", set()),
        ("holds. 1. Let $x^{2}$ be", {0}),
        (r"1. Let $x^{2}$ be $3/4$, and for a; then $b = -3$ holds.", {0, 1}),
        ("", set()),
    ],
)  # fmt: skip
def test_exact_formulas(reading: str, exact: set[int]) -> None:
    assert find_exact(TRUTH, reading)[0] == exact


def test_words_that_are_lost_or_stand_between_dollars() -> None:
    assert find_exact("Find the mass $m$ of a star.", "Find the mass $m$ of a star.")[1] == set()
    assert len(find_exact("Find the mass $m$ of it.", "Find the $m$ of it.")[1]) == 1
    assert find_exact("Find the mass of it.", r"Find $\mathrm{the}$ mass of it.")[1] == {1}
