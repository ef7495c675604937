"""What of a page a person should look at."""

from __future__ import annotations

import json

from omibench.ocr_view.doubts import list_doubts
from omibench.schemas.pages import PageLine, PageText
from omibench.schemas.problem import BBox, DoubtfulFormula, Problem
from omibench.schemas.problem_warning import ProblemWarning


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
