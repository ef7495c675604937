"""Corrections of a paper, made while it is read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from tests.stages.ocr.corrections.mock_paper import (
    FRACTION,
    draw_paper,
    read_mock,
    write_corrections,
)

from omibench.explore.ocr_view import make_look_writer
from omibench.explore.ocr_view.doubts import list_doubts
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import OcrReport, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_json, read_jsonl
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.corrections.entry import compute_digest
from omibench.stages.ocr.engines import textlayer
from omibench.stages.ocr.formulas.page_formulas import PageFormulas, read_formulas

PERIOD = r"1. Find the period of the pendulum, which is $2\pi\sqrt{\frac{67R}{20g}}$"
FLAT = "1. Find the period of the pendulum, which is 2\n67R\n20g"


def list_codes(problem: Problem) -> list[str]:
    return [warning.code for warning in problem.warnings]


def test_a_formula_that_lost_its_form_is_written_anew_and_the_suspicion_goes(
    tmp_path: Path,
) -> None:
    assert "math_suspect" in list_codes(read_mock(tmp_path).problems["1"])
    text = {"page": 1, "box": list(FRACTION), "text": PERIOD, "was": FLAT}
    problem = read_mock(tmp_path, text).problems["1"]
    assert problem.question.startswith(PERIOD.removeprefix("1. "))
    assert [str(warning) for warning in problem.warnings] == ["corrected: text by Ana"]
    (page,) = read_jsonl(tmp_path / "out/pages.jsonl", PageText)
    assert PERIOD in page.text
    assert [line.engine for line in page.lines if "pendulum" in line.text] == ["person"]


def test_a_correction_of_another_reading_is_reported_and_not_made(tmp_path: Path) -> None:
    text = {"page": 1, "box": list(FRACTION), "text": PERIOD, "was": "1. Find the area"}
    write_corrections(tmp_path, text)
    read_papers([draw_paper(tmp_path / "mock.pdf")], tmp_path / "out", OcrParams(dpi=72))
    problem = read_jsonl(tmp_path / "out/problems.jsonl", Problem)[0]
    assert "67R" in problem.question
    assert list_codes(problem) == ["math_suspect", "correction_misfit"]
    (file,) = read_json(tmp_path / "out/report.json", OcrReport).files
    assert (file.status, file.codes) == ("warning", ["correction_misfit"])
    place = "line 2, text of page 1, box (72, 80, 345, 111) by Ana"
    assert place in file.where["correction_misfit"]
    (row,) = file.corrections
    assert (row.status, row.problems) == ("misfit", ["1"])


def test_a_run_of_a_line_becomes_a_formula(tmp_path: Path) -> None:
    formula = {"page": 1, "box": [300, 82, 330, 97], "formula": r"67R^{2}", "was": "67R"}
    assert "$67R^{2}$" in read_mock(tmp_path, formula).problems["1"].question


def test_text_choice_choices_answer_and_solution_are_set(tmp_path: Path) -> None:
    digest = compute_digest("What is the third planet?  And which moon does it have?")
    reading = read_mock(
        tmp_path,
        {"problem": "1", "choice": {"label": "B", "text": "$5$ s"}, "was": "4 s"},
        {"problem": "1", "answer": ["B"], "was": ""},
        {"problem": "3", "text": "Which is the third planet?", "was": digest},
        {"problem": "3", "choices": [{"label": "A", "text": "Earth"}, {"label": "B", "text": "X"}]},
        {"problem": "3", "solution": "It is the Earth.", "note": "from the web page"},
    )
    problems = reading.problems
    assert [choice.text for choice in problems["1"].choices or []] == ["3 s", "$5$ s", "5 s", "6 s"]
    assert problems["1"].answer == ["B"]
    third = problems["3"]
    assert (third.question, third.solution) == ("Which is the third planet?", "It is the Earth.")
    assert [choice.label for choice in third.choices or []] == ["A", "B"]
    assert reading.statuses == ["applied"] * 5


def test_an_answer_that_names_no_choice_and_a_missing_problem_do_not_fit(tmp_path: Path) -> None:
    reading = read_mock(
        tmp_path,
        {"problem": "1", "answer": ["E"]},
        {"problem": "9", "text": "Nothing of the kind."},
    )
    assert reading.problems["1"].answer is None
    reasons = [row.reason for row in reading.outcome.corrections]
    assert reasons == ["the answer E is not a choice", "no problem 9 was read"]


def test_what_reading_says_by_now_is_left_alone(tmp_path: Path) -> None:
    entry = {"problem": "1", "choice": {"label": "B", "text": "4 s"}, "was": "4 5"}
    reading = read_mock(tmp_path, entry)
    assert "corrected" not in list_codes(reading.problems["1"])
    assert reading.statuses == ["agrees"]


def test_a_problem_is_split_in_two_and_the_second_can_be_corrected(tmp_path: Path) -> None:
    problems = read_mock(
        tmp_path,
        {"problem": "4", "answer": ["the Moon"]},
        {"problem": "3", "split": {"at": "And  which moon", "number": "4"}},
    ).problems
    assert list(problems) == ["1", "2", "3", "4"]
    assert problems["3"].question == "What is the third planet?"
    fourth = problems["4"]
    assert (fourth.id, fourth.group) == ("mock.pdf-4", "mock.pdf-4")
    assert fourth.question == "And which moon does it have?"
    assert fourth.answer == ["the Moon"]
    warnings = [str(warning) for warning in fourth.warnings]
    assert warnings == ["corrected: answer by Ana", "corrected: split by Ana"]


def test_problems_are_merged_with_their_figures_and_dropped(tmp_path: Path) -> None:
    reading = read_mock(tmp_path, {"problem": "3", "merge": "2"}, {"problem": "1", "drop": True})
    (problem,) = reading.problems.values()
    assert problem.number == "3"
    assert problem.question.index("planet") < problem.question.index("[IMAGE0]")
    assert len(problem.images) == 1


def test_a_figure_is_cut_anew_replaced_added_and_taken_out(tmp_path: Path) -> None:
    before = read_mock(tmp_path).problems["2"].images[0]
    box = [140, 260, 260, 380]
    cut = read_mock(tmp_path, {"problem": "2", "figure": {"image": 0, "box": box}})
    (figure,) = cut.problems["2"].images
    assert figure.bbox == tuple(box)
    assert figure.sha256 != before.sha256
    assert (tmp_path / "out" / figure.file).is_file()

    picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 8, 8), 0)
    picture.clear_with(90)
    picture.save(tmp_path / "circle.png")
    problems = read_mock(
        tmp_path,
        {"problem": "2", "figure": {"image": 0, "file": "circle.png"}},
        {"problem": "3", "figure": {"image": 0, "page": 1, "box": box}},
    ).problems
    assert problems["2"].images[0].page is None
    assert problems["3"].question.endswith("[IMAGE0]")

    removed = read_mock(tmp_path, {"problem": "2", "figure": {"image": 0, "remove": True}})
    assert removed.problems["2"].images == []
    assert "[IMAGE" not in removed.problems["2"].question


def test_a_box_off_the_page_and_a_figure_that_is_not_there_do_not_fit(tmp_path: Path) -> None:
    reading = read_mock(
        tmp_path,
        {"problem": "2", "figure": {"image": 0, "box": [1000, 1000, 1100, 1100]}},
        {"problem": "3", "figure": {"image": 3, "box": [10, 10, 50, 50]}},
    )
    assert reading.statuses == ["misfit", "misfit"]


@pytest.fixture
def _doubtful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every formula of a text layer is read with a doubt."""

    def read(page: pymupdf.Page, *more: Any) -> PageFormulas:
        reading = read_formulas(page, *more)
        doubtful = [
            replace(placed, formula=replace(placed.formula, doubts=("a glyph is unknown",)))
            for placed in reading.formulas
        ]
        return reading._replace(formulas=doubtful)

    monkeypatch.setattr(textlayer, "read_formulas", read)


@pytest.mark.usefixtures("_doubtful")
@pytest.mark.parametrize(
    ("latex", "was", "status"),
    [(r"x^{2}=3", r"\mathrm{x}=3", "applied"), (r"\mathrm{x}=3", r"\mathrm{x} = 3", "applied"),
     (r"x^{2}=3", "y=3", "misfit")],
)  # fmt: skip
def test_a_doubtful_formula_is_settled_by_a_correction_at_its_box(
    tmp_path: Path, latex: str, was: str, status: str
) -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_text((72, 100), "1. What is the value of y, where x = 3 holds?")
        page.insert_text((72, 140), "2. How many sides does a square have?")
        pdf.save(tmp_path / "mock.pdf")
    doubtful = read_mock(tmp_path).problems["1"]
    (formula,) = doubtful.doubtful_formulas
    assert (formula.latex, formula.doubts) == (r"\mathrm{x}=3", ["a glyph is unknown"])
    assert (tmp_path / "out" / formula.file).is_file()
    assert list_codes(doubtful) == ["formula_doubtful"]

    box = list(formula.bbox)
    reading = read_mock(tmp_path, {"page": 1, "box": box, "formula": latex, "was": was})
    assert reading.statuses == [status]
    problem = reading.problems["1"]
    is_settled = status == "applied"
    assert (f"${latex}$" in problem.question) == is_settled
    assert (problem.doubtful_formulas == []) == is_settled
    codes = ["corrected"] if is_settled else ["formula_doubtful", "correction_misfit"]
    assert list_codes(problem) == codes


@pytest.mark.usefixtures("_doubtful")
def test_the_crop_of_a_formula_that_a_problem_no_longer_has_is_removed(tmp_path: Path) -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_text((72, 100), "1. What is the value of y, where x = 3 holds?")
        page.insert_text((72, 140), "2. How many sides does a square have?")
        pdf.save(tmp_path / "mock.pdf")
    (formula,) = read_mock(tmp_path).problems["1"].doubtful_formulas
    problem = read_mock(tmp_path, {"problem": "1", "text": "Find y."}).problems["1"]
    assert problem.doubtful_formulas == []
    assert not (tmp_path / "out" / formula.file).exists()


def draw_unread(path: Path) -> Path:
    """Write a paper with a picture of a formula in the middle of a line."""
    picture = pymupdf.open().new_page(width=60, height=20)
    picture.insert_text((2, 14), "v=3/4 m")
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_text((72, 160), "1. What is the area of a square whose side is known?")
        page.insert_text((72, 200), "2. A ball has the speed              when it is thrown.")
        page.insert_image((190, 188, 240, 204), pixmap=picture.get_pixmap(dpi=150))
        pdf.save(path)
    return path


@pytest.mark.parametrize("at", ["box", "problem"])
def test_a_correction_settles_unread_ink(tmp_path: Path, at: str) -> None:
    draw_unread(tmp_path / "mock.pdf")
    assert list_codes(read_mock(tmp_path).problems["2"]) == ["ink_unread"]
    (page,) = read_jsonl(tmp_path / "out/pages.jsonl", PageText)
    (ink,) = page.unread
    text = "A ball has the speed $\\frac{3}{4}$ when it is thrown."
    (doubt,) = list_doubts("mock.pdf", [page], [read_mock(tmp_path).problems["2"]])
    draft = json.loads(doubt.entry)
    assert (doubt.problem, doubt.reasons) == ("2", [f"not read: {ink.what}"])
    assert draft["value"] == "2. A ball has the speed when it is thrown."
    entry = {"page": 1, "box": draft["box"], "text": f"2. {text}", "was": draft["was"]}
    if at == "problem":
        entry = {"problem": "2", "text": text}
    reading = read_mock(tmp_path, entry)
    assert reading.statuses == ["applied"]
    assert reading.problems["2"].question == text
    assert list_codes(reading.problems["2"]) == ["corrected"]
    (page,) = read_jsonl(tmp_path / "out/pages.jsonl", PageText)
    assert bool(page.unread) == (at == "problem")


@pytest.mark.parametrize(("was", "status"), [("1. A", "applied"), ("1. B", "misfit")])
def test_a_correction_of_a_key_is_listed_with_its_file(
    tmp_path: Path, was: str, status: str
) -> None:
    draw_paper(tmp_path / "mock.pdf")
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        for k, text in enumerate(("Answers", "1. A", "2. 4", "3. the Earth")):
            page.insert_text((72, 100 + 20 * k), text)
        pdf.save(tmp_path / "key.pdf")
    manifest = tmp_path / "sources.yaml"
    manifest.write_text("sources:\n- {name: mock, paper: mock.pdf, key: key.pdf}\n", "utf-8")
    entry = {"page": 1, "box": [60, 108, 200, 124], "text": "1. C", "was": was}
    write_corrections(tmp_path, entry | {"paper": "key.pdf"})
    look = make_look_writer(tmp_path / "looks")
    read_papers([], tmp_path / "out", OcrParams(dpi=72), manifest=manifest, look=look)
    first = read_jsonl(tmp_path / "out/problems.jsonl", Problem)[0]
    assert first.answer == (["C"] if status == "applied" else ["A"])
    (file,) = read_json(tmp_path / "out/report.json", OcrReport).files
    (row,) = file.corrections
    assert (row.status, row.file) == (status, "key.pdf")
    place = "text of page 1, box (60, 108, 200, 124) of key.pdf"
    assert (place in file.where.get("correction_misfit", "")) == (status == "misfit")
    assert place in (tmp_path / "looks/mock.html").read_text("utf-8")
