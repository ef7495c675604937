"""Formulas and texts corrected at their boxes, on pages of a few lines."""

from __future__ import annotations

import pytest

from omibench.stages.ocr.corrections.apply import PageCorrector
from omibench.stages.ocr.corrections.entry import Correction, CorrectionEntry
from omibench.stages.ocr.corrections.problems import CorrectionLog
from omibench.stages.ocr.formulas.marks import Formula, FormulaRegion, NextLine
from omibench.stages.ocr.layout.layout import Box, Line
from omibench.stages.ocr.layout.regions import Region as Drawing
from omibench.stages.ocr.structure.document import DocumentPage

LINE = Box(60, 90, 360, 104)
LEFT, RIGHT = Box(100, 88, 130, 106), Box(250, 88, 280, 106)


def make_line(text: str, box: Box = LINE, **fields: object) -> Line:
    return Line(1, box, text, 11.0, baseline=box.y1 - 2, **fields)  # type: ignore[arg-type]


def make_formula(latex: str, box: Box, *doubts: str) -> Formula:
    return Formula(FormulaRegion(box, ()), latex, doubts)


def correct(lines: list[Line], **fields: object) -> tuple[DocumentPage, str]:
    """The page after one correction, and what became of that."""
    page = DocumentPage(1, 600, 800, lines, [])
    correction = Correction.model_validate({"paper": "p", "page": 1, "by": "Ana", **fields})
    entries = [CorrectionEntry(number=0, line=2, correction=correction)]
    log = CorrectionLog(entries)
    PageCorrector(entries, log).correct(page)
    return page, log.rows[0].status


def test_the_formula_at_the_box_is_corrected_and_no_longer_doubtful() -> None:
    formulas = (make_formula("a_{1}", LEFT, "unsure"), make_formula("a_{1}", RIGHT, "unsure"))
    line = make_line("With $a_{1}$ and then $a_{1}$.", formulas=formulas)
    page, status = correct([line], box=RIGHT, formula="a_{2}", was="a_1")
    (after,) = page.lines
    assert (after.text, status) == ("With $a_{1}$ and then $a_{2}$.", "applied")
    assert [formula.doubts for formula in after.formulas] == [("unsure",), ()]
    assert after.formulas[1].latex == "a_{2}"


def test_a_reading_that_agrees_by_now_is_no_longer_doubtful_and_keeps_its_spelling() -> None:
    line = make_line("It is $a_1$.", formulas=(make_formula("a_1", LEFT, "unsure"),))
    page, status = correct([line], box=LEFT, formula="a_{1}", was="u_{1}")
    assert (page.lines[0].text, status) == ("It is $a_1$.", "agrees")
    assert page.lines[0].formulas[0].doubts == ()


@pytest.mark.parametrize(
    ("box", "text"),
    [(LEFT, "With $a_{2}$ and then $a_{1}$."), (RIGHT, "With $a_{1}$ and then $a_{2}$.")],
)
def test_of_two_that_read_alike_the_nearest_is_meant(box: Box, text: str) -> None:
    page, _ = correct(
        [make_line("With $a_{1}$ and then $a_{1}$.")], box=box, formula="a_{2}", was="a_{1}"
    )
    assert page.lines[0].text == text


@pytest.mark.parametrize(
    ("text", "fields", "status"),
    [
        ("It is $x$.", {"formula": "y"}, "applied"),
        ("It is $x$ and $z$.", {"formula": "y"}, "misfit"),
        ("It is $x$.", {"formula": "y", "was": "z"}, "misfit"),
        ("It is $y$.", {"formula": "y", "was": "x"}, "agrees"),
        ("It costs $5 or $7.", {"formula": "y"}, "misfit"),
        ("11 2 d", {"formula": r"\frac{11}{2}", "was": "11 2"}, "applied"),
        ("11 2 d and 11 2 e", {"formula": r"\frac{11}{2}", "was": "11 2"}, "misfit"),
        ("It is $x 5$.", {"formula": "y", "was": "5"}, "misfit"),
    ],
)
def test_what_becomes_of_a_formula(text: str, fields: dict[str, object], status: str) -> None:
    page, outcome = correct([make_line(text)], box=LEFT, **fields)
    assert outcome == status
    assert (page.lines[0].text != text) == (status == "applied")


def test_a_formula_where_no_line_stands_does_not_fit() -> None:
    page, status = correct([make_line("It is $x$.")], box=Box(60, 300, 90, 320), formula="y")
    assert (page.lines[0].text, status) == ("It is $x$.", "misfit")


def test_lines_in_the_box_become_those_that_a_person_wrote() -> None:
    above, below = (
        make_line("above", Box(60, 70, 90, 82)),
        make_line("below", Box(60, 120, 90, 132)),
    )
    lines = [above, make_line("2x", LEFT, stacked=True), make_line("7", RIGHT), below]
    page, status = correct(lines, box=[95, 85, 290, 110], text="One: $x$\nTwo", was="2x 7")
    assert status == "applied"
    assert [line.text for line in page.lines] == ["above", "One: $x$", "Two", "below"]
    first, second = page.lines[1:3]
    assert (first.engine, first.stacked) == ("person", False)
    assert first.box.y1 == second.box.y0
    assert first.baseline < second.baseline


def test_a_text_where_nothing_was_read_takes_the_place_of_its_drawing() -> None:
    page = DocumentPage(1, 600, 800, [make_line("It is")], [])
    page.regions = [Drawing(Box(100, 200, 130, 215)), Drawing(Box(50, 150, 500, 400))]
    box = (98.0, 198.0, 140.0, 218.0)
    correction = Correction(paper="p", page=1, box=box, text="$x$", was="", by="Ana")
    entries = [CorrectionEntry(number=0, line=2, correction=correction)]
    PageCorrector(entries, CorrectionLog(entries)).correct(page)
    assert [line.text for line in page.lines] == ["It is", "$x$"]
    assert [region.box.width for region in page.regions] == [450]


def test_an_empty_text_takes_lines_out() -> None:
    page, _ = correct(
        [make_line("noise"), make_line("x", Box(60, 300, 90, 312))], box=LINE, text=""
    )
    assert [line.text for line in page.lines] == ["x"]


@pytest.mark.parametrize("box", [Box(300, 88, 360, 106), Box(60, 104, 90, 120)])
def test_a_broken_formula_is_corrected_at_its_part_in_either_line(box: Box) -> None:
    second = NextLine(FormulaRegion(Box(60, 104, 90, 120), ()), 300, -14)
    region = FormulaRegion(Box(300, 88, 360, 106), (), following=(second,))
    line = make_line("So $a=b+c$", formulas=(Formula(region, "a=b+c", ("unsure",)),))
    rest = make_line("holds.", Box(60, 104, 360, 118))
    page, status = correct([line, rest], box=box, formula="a=b-c", was="a=b+c")
    assert ([line.text for line in page.lines], status) == (["So $a=b-c$", "holds."], "applied")
    assert page.lines[0].formulas[0].doubts == ()
