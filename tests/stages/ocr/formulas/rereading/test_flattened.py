"""Rows of a formula that an engine read as lines of their own."""

from __future__ import annotations

from dataclasses import replace

from omibench.stages.ocr.formulas.rereading.pages import group_flattened, join_group
from omibench.stages.ocr.layout.layout import Box, Line


def line(text: str, x0: float, y0: float, x1: float, y1: float, *, suspect: bool = False) -> Line:
    box = Box(x0, y0, x1, y1)
    return Line(1, box, text, 10, engine="rapidocr", confidence=0.9, math_suspect=suspect)


def test_numerator_denominator_and_what_stands_beside_them_are_one() -> None:
    head = line("The speed is v0 =", 50, 100, 150, 112, suspect=True)
    above, below = line("2g", 154, 93, 170, 104), line("h", 156, 107, 166, 118)
    tail = line("of the ball", 174, 100, 240, 112)
    far = line("next column", 320, 100, 420, 112)
    under = line("and it falls", 50, 114, 240, 126)
    (group,) = group_flattened([head, above, below, tail, far, under])
    assert group == [head, above, below, tail]
    joined = join_group(group)
    assert joined.box == (50, 93, 240, 118)
    assert joined.text == "The speed is v0 = 2g h of the ball"


def test_lines_without_formulas_and_those_left_out_are_in_no_group() -> None:
    plain = line("A ball falls", 50, 100, 150, 112)
    ink = replace(line("v0", 50, 130, 70, 142, suspect=True), left_out="handwriting")
    side = replace(line("v0", 50, 130, 60, 190, suspect=True), upright=False)
    assert group_flattened([plain, ink, side]) == []


def test_no_line_is_in_two_groups() -> None:
    first = line("x2 +", 50, 100, 80, 112, suspect=True)
    second = line("y2", 84, 100, 100, 112, suspect=True)
    assert group_flattened([first, second]) == [[first, second]]


def test_a_fraction_beside_a_line_is_a_formula_though_no_line_looks_like_one() -> None:
    root = line("2πV", 188, 289, 210, 306)
    above, below = line("2m", 210, 281, 231, 297), line("k", 211, 296, 229, 310)
    assert group_flattened([root, above, below]) == [[root, above, below]]
    assert group_flattened([root, above]) == []
    apart = replace(below, box=Box(236, 296, 250, 310))
    assert group_flattened([root, above, apart]) == []


def test_cells_of_words_beside_a_cell_are_no_fraction() -> None:
    head = line("Group", 50, 100, 90, 112)
    cells = [line("Nitrogen", 94, 94, 140, 105), line("Oxygen", 94, 107, 140, 118)]
    assert group_flattened([head, *cells]) == []


def test_a_denominator_in_the_box_of_its_line_belongs_to_it() -> None:
    first = line("(A) W = p1V1", 37, 182, 120, 201, suspect=True)
    second = line("(B) W = p2V2", 37, 196, 119, 215, suspect=True)
    below = line("k-1", 88, 208, 107, 217)
    assert group_flattened([first, second, below]) == [[first], [second, below]]
