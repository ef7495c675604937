"""Formulas that are broken at the end of a line, and lines that only look so."""

from __future__ import annotations

import pytest
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.marks import FormulaRegion, PageMarks
from omibench.stages.ocr.formulas.page_formulas import read_formula
from omibench.stages.ocr.formulas.regions import find_regions

LEFT = 20.0
LEADING = 12.0
LONG = "which was measured by the students in the second part of the"
MANY = " + ".join("abcdefghkmnpqrstuvwxyz")


def set_line(setting: Setting, line: str, y: float, *, x: float) -> None:
    """Words in roman type; what is between bars is mathematics."""
    setting.put("", x=x)
    for k, part in enumerate(line.split("|")):
        for word in part.split(" "):
            if k % 2:
                setting.put(word, y=y, gap=0.0)
                setting.x += 2.5
            elif word:
                setting.put(word, y=y, font="CMR10", gap=0.0)
                setting.x += 3.3


def read(*lines: str) -> list[FormulaRegion]:
    """The formulas of lines in one column."""
    setting = Setting()
    for k, line in enumerate(lines):
        set_line(setting, line, 100 + k * LEADING, x=LEFT)
    return find_regions(PageMarks(600, 800, tuple(setting.glyphs)))


def read_latex(*lines: str) -> list[str]:
    return [read_formula(region).latex for region in read(*lines)]


@pytest.mark.parametrize(
    ("lines", "formulas"),
    [
        ((f"{LONG} |a = b +|", "|c + d| holds"), ["a=b+c+d"]),
        ((f"{LONG} value |x =|", "|12| of it"), ["x=12"]),
        ((f"{LONG} law |f (x +|", "|y ) = z| holds"), ["f(x+y)=z"]),
        ((f"{LONG} case |x =|", "|−b| for it"), ["x=-b"]),
        ((f"{LONG} case |a ⇒|", "|b = c| for it"), ["a\\Rightarrow b=c"]),
        ((f"{LONG} case |a + b|", "|= c| for it"), ["a+b=c"]),
        ((f"{LONG} case |a|", "|+ b = c| for it"), ["a+b=c"]),
        ((f"{LONG} |a = b +|", f"|{MANY} −|", "|e| holds"), [f"a=b+{MANY.replace(' ', '')}-e"]),
        ((f"{LONG} value |f (x,|", "|y ) = z| holds"), ["f(x,y)=z"]),
        (("(A) |a + b =|", "|c|"), ["a+b=c"]),
        (("It is known that", f"|{MANY} −|", "|e|"), [f"{MANY.replace(' ', '')}-e"]),
    ],
)
def test_a_formula_is_read_over_the_end_of_its_line(
    lines: tuple[str, ...], formulas: list[str]
) -> None:
    assert read_latex(*lines) == formulas


@pytest.mark.parametrize(
    "lines",
    [
        (f"{LONG} part |a = b +|", "of |c + d| holds"),  # prose between
        (f"{LONG} part |a = b +|", "(a) the mass |m|"),  # a label
        (f"{LONG} part |a = b +|", "2. the mass |m|"),
        (f"{LONG} part |a = b +|", "a mass |m| falls"),  # an article
        (f"{LONG} part |a = b|", "- |c| falls"),  # a bullet
        (f"{LONG} part |a = b|", "|−c| falls"),  # a sign
        (f"{LONG} part |a = b|", "|∴ c| falls"),  # a conclusion
        (f"{LONG} part |a = b|.", "|c = d| falls"),
        (f"{LONG} part (with |a,|", "|b ) and others"),
        (f"{LONG} part |a,|", "|b = c| and others"),
        ("|a = b +|", "|c + d|"),  # rows of a display
    ],
)
def test_what_is_not_certainly_one_formula_stays_apart(lines: tuple[str, ...]) -> None:
    assert not any(region.following for region in read(*lines))


def test_what_would_have_fitted_into_the_line_above_is_another_formula() -> None:
    regions = read(f"{LONG} table", "so |3 + 4 =|", "|5 + 6| holds")
    assert not any(region.following for region in regions)


def test_a_wide_space_separates_no_words_from_a_broken_formula() -> None:
    setting = Setting()
    set_line(setting, "in the reaction", 100, x=LEFT)
    set_line(setting, "|a = b +|", 100, x=setting.x + 20)
    set_line(setting, "|c + d|", 112, x=LEFT)
    (region,) = find_regions(PageMarks(600, 800, tuple(setting.glyphs)))
    assert read_formula(region).latex == "a=b+c+d"


def test_a_broken_formula_has_a_box_in_each_line_and_no_doubts() -> None:
    (region,) = read(f"{LONG} |f (x +|", "|y ) = z| holds")
    first, second = region.boxes
    assert (second.x0, second.y0 > first.y1, first.x0 > 300) == (LEFT, True, True)
    assert "".join(glyph.text for line in region.lines for glyph in line.glyphs) == "f(x+y)=z"
    assert read_formula(region).doubts == ()


def test_columns_side_by_side_are_read_apart() -> None:
    setting = Setting()
    for k, line in enumerate((f"{LONG} |a = b +|", "|c + d| holds for all of these masses")):
        set_line(setting, line, 100 + k * LEADING, x=LEFT)
    edge = max(glyph.box.x1 for glyph in setting.glyphs)
    for k in range(2):
        set_line(setting, "|u = v| in the other column", 100 + k * LEADING, x=edge + 9)
    regions = find_regions(PageMarks(900, 800, tuple(setting.glyphs)))
    assert [read_formula(region).latex for region in regions] == ["a=b+c+d", "u=v", "u=v"]
