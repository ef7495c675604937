"""Keys that are lists of numbers and formulas."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.structure.key_tables import read_key

Column = Callable[..., list[Line]]
LABELS = ("1", "2", "3")


def read(lines: list[Line]) -> dict[str, list[str] | None]:
    key = read_key(lines, LABELS)
    return {label: key.get(label) for label in LABELS}


def test_formulas_values_and_letters_after_a_title(column: Column) -> None:
    formula = r"$h=\frac{gd^{2}}{2v_{0}^{2}}$"
    lines = column("Physics 2026: answers", f"1. {formula}", "2) 3.27 m/s", "(3) B")
    assert read(lines) == {"1": [formula], "2": ["3.27 m/s"], "3": ["B"]}


def test_parts_of_a_problem_are_kept_apart(column: Column) -> None:
    lines = column("1a) $5$ J", "1b) $7$ J", "2. $x^{2}$")
    assert read(lines) == {"1": ["(a) $5$ J", "(b) $7$ J"], "2": ["$x^{2}$"], "3": None}


def test_the_key_of_a_problem_that_was_not_read_is_left_out(column: Column) -> None:
    assert read(column("1. $x=2$", "4. $x=3$")) == {"1": ["$x=2$"], "2": None, "3": None}


@pytest.mark.parametrize(
    "lines",
    [
        ("1. $x=2$", "because it falls freely", "2. $x=3$"),
        ("1. The ball moves with 5 m/s along the road.", "2. $x=3$", "3. $x$"),
        ("1. $x=2$", "1. $x=3$"),
        ("1. $x=2$",),
        ("1. yes", "2. no"),
        ("1. 3 marks", "2. 5 marks", "3. 2.5 points"),
    ],
)
def test_other_lines_make_it_no_list_of_values(column: Column, lines: tuple[str, ...]) -> None:
    assert set(read(column(*lines)).values()) == {None}
