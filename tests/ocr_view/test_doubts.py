"""What of a page a person should look at."""

from __future__ import annotations

import json

from omibench.explore.ocr_view.doubts import list_doubts
from omibench.explore.ocr_view.page import build_leaves
from omibench.schemas.pages import PageInk, PageLine, PageText
from omibench.schemas.problem import BBox, DoubtfulFormula, Problem, ProblemWarning
from omibench.stages.ocr.layout.places import Layout, Sheet


def make_line(text: str, bbox: BBox, **fields: object) -> PageLine:
    return PageLine(text=text, bbox=bbox, engine="rapidocr", **fields)  # type: ignore[arg-type]


def make_problem(**fields: object) -> Problem:
    values: dict[str, object] = {"id": "mock-1", "question": "Find $x$.", "source": "mock"}
    values |= {"source_sha256": "", "number": "1", "pages": [1]}
    return Problem.model_validate(values | fields)


LINES = [
    make_line("Find 2x", (60, 100, 200, 112)),
    make_line("11", (210, 94, 222, 104), math_suspect=True),
    make_line("2 d", (210, 100, 230, 112), math_suspect=True),
    make_line("far below", (60, 300, 200, 312), math_suspect=True),
    make_line("running head", (60, 20, 200, 32), math_suspect=True, left_out="furniture"),
]
PAGE = PageText(source="mock", page=1, text="", engine="rapidocr", lines=LINES)


def test_rows_of_one_flat_formula_are_one_place_with_one_correction() -> None:
    first, second = list_doubts("mock", [PAGE], [])
    assert (first.bbox, first.text) == ((210, 94, 230, 112), "11\n2 d")
    entry = json.loads(first.entry)
    assert (entry["kind"], entry["box"], entry["value"]) == ("text", [210, 94, 230, 112], "11\n2 d")
    assert second.text == "far below"
    assert [doubt.anchor for doubt in (first, second)] == ["f1", "f2"]


def test_a_label_of_a_figure_is_not_a_flat_formula() -> None:
    figure = {"file": "f.png", "sha256": "", "page": 1, "bbox": (50, 290, 220, 320)}
    elsewhere = figure | {"page": 2, "bbox": (200, 90, 240, 120)}
    (only,) = list_doubts("mock", [PAGE], [make_problem(images=[figure, elsewhere])])
    assert only.text == "11\n2 d"


def test_readers_that_differ_are_shown_with_their_lines_or_their_doubtful_formula() -> None:
    formula = DoubtfulFormula(
        page=1, bbox=(100, 98, 130, 114), latex="x", file="f.png", sha256="", doubts=["unsure"]
    )
    warnings = [
        ProblemWarning("formula_differs", "page 1, box (100, 98, 130, 114): one has 2"),
        ProblemWarning("formula_differs", "page 1, box (70, 301, 90, 311): one has -"),
        ProblemWarning("formula_differs", "no place"),
        ProblemWarning("number_gap", "page 1, box (1, 1, 9, 9)"),
    ]
    problem = make_problem(doubtful_formulas=[formula], warnings=warnings)
    page = PAGE.model_copy(update={"lines": [LINES[0], LINES[3]]})
    first, second = list_doubts("mock", [page], [problem])
    assert first.reasons == ["unsure", "two readers differ: one has 2"]
    assert first.text == "$x$"
    assert (second.text, second.reasons) == ("far below", ["two readers differ: one has -"])
    assert json.loads(second.entry)["was"] == "far below"


def test_unread_ink_comes_with_the_lines_of_its_row() -> None:
    lines = [
        make_line("when it falls", (240, 100, 330, 112)),
        make_line("A ball has the speed", (72, 100, 190, 112)),
        make_line("Find it.", (72, 120, 140, 132)),
    ]
    unread = [
        PageInk(bbox=(195, 98, 215, 112), what="a mark of 20 x 14 points"),
        PageInk(bbox=(217, 98, 236, 112), what="the glyph x"),
        PageInk(bbox=(300, 400, 320, 412), what="a drawing of 20 x 12 points"),
    ]
    page = PAGE.model_copy(update={"lines": lines, "unread": unread})
    warnings = [ProblemWarning("ink_unread", "page 1, box (195, 98, 215, 112): a mark")]
    first, second = list_doubts("mock", [page], [make_problem(warnings=warnings)])
    assert first.bbox == (72, 98, 330, 112)
    assert first.reasons == ["not read: a mark of 20 x 14 points", "not read: the glyph x"]
    assert (first.problem, first.ink) == ("1", tuple(unread[:2]))
    entry = json.loads(first.entry)
    assert entry["value"] == "A ball has the speed when it falls"
    assert entry["was"].startswith("sha256:")
    assert (second.problem, second.text, second.bbox) == ("", "", (300, 400, 320, 412))


def test_unread_ink_is_drawn_above_every_doubtful_formula() -> None:
    formulas = [
        DoubtfulFormula(page=1, bbox=box, latex="x", file="f.png", sha256="", doubts=["unsure"])
        for box in ((100, 50, 130, 60), (180, 110, 260, 140))
    ]
    unread = [PageInk(bbox=(195, 98, 215, 112), what="a mark of 20 x 14 points")]
    page = PAGE.model_copy(update={"lines": [], "unread": unread})
    layout = Layout(sheets=[Sheet(page=1, width=595, height=842)], places=[])
    problem = make_problem(doubtful_formulas=formulas)
    (leaf,) = build_leaves("mock", layout, [page], [problem])
    assert [len(doubt.ink) for doubt in leaf.doubts] == [0, 1, 0]
    assert [shape.kind for shape in leaf.lines] == ["doubtful", "doubtful", "ink"]
