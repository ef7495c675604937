from __future__ import annotations

import pytest

from omibench.answers.match import match_answer


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [
        ("[0,1)", r"0 \le x < 1", True), ("[0,1)", "0 < x < 1", False), ("(0, ∞)", "x > 0", True),
        (r"(0,1) \cup (2,3)", r"(2,3)\cup(0,1)", True), (r"(-\infty, 2]", r"2 \geq x", True),
        (r"(0,1) \cup (2,3)", r"(0,1)\cup(2,4)", False), (r"(0,1) \cup (2,3)", "(0,1)", False),
        ("x<1 or x>3", r"(-\infty,1)\cup(3,\infty)", True), ("x<1 or x>3", "1<x<3", False),
        ("x > 2", "y > 2", False), (r"x \in [1, \frac{3}{2}]", r"1 \leq x \leq 1.5", True),
        ("-1<x<3", "(-1, 3)", True), ("-1<x<3", "(-1, 3]", False), ("(1, 2)", "(2, 1)", False),
    ],
)  # fmt: skip
def test_intervals_and_inequalities(gold: str, pred: str, equal: bool) -> None:
    assert (match_answer([gold], pred) is not None) is equal


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [
        ("x = 1 or x = 2", "x = 2 or x = 1", True), ("1 or 5", "x = 5, x = 1", True),
        ("±2", "2, -2", True), (r"x = \pm\sqrt{3}", r"\sqrt{3} or -\sqrt{3}", True),
        ("±2", "2", False), ("1 or 5", "1", False), ("3", "3 or 4", False),
        ("1, 2 or 3", "3, 1, 2", True), ("1 oder 5", "5 или 1", True), ("1 or 5", "1 or 6", False),
        ("5.0 ± 0.1", "4.9 or 5.1", False),
    ],
)  # fmt: skip
def test_alternatives_stand_in_any_order(gold: str, pred: str, equal: bool) -> None:
    assert (match_answer([gold], pred) is not None) is equal


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [
        ("x^2/4 + y^2 = 1", "x^2 + 4y^2 = 4", True), ("y = 2x + 1", "4x - 2y + 2 = 0", True),
        ("y = 2x + 1", "4x - 2y + 1 = 0", False), ("a = 3b", r"b = \frac{a}{3}", True),
        (r"\vec F = \vec v \times \vec B", r"\vec F = \vec B \times \vec v", False),
        ("60°", r"\frac{\pi}{3}", True), ("60°", r"\frac{\pi}{6}", False),
        ("10", r"\binom{5}{2}", True), ("120", "5!", True), ("(3, 4)", "3, 4", True),
        ("(3, 4)", "4, 3", False),
        ("x = 3, y = 4", "(x, y) = (3, 4)", True), ("1-c, 2-a", "1c, 2a", True),
        ("1-c, 2-a", "1a, 2c", False),
    ],
)  # fmt: skip
def test_equations_and_lists_in_another_dress(gold: str, pred: str, equal: bool) -> None:
    assert (match_answer([gold], pred) is not None) is equal
