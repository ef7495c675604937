"""Corrections of a paper by people: their file, their effect, their lines."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from tests.stages.ocr.corrections.mock_paper import (
    FRACTION,
    Entry,
    draw_paper,
    fill_entry,
    read_mock,
    write_corrections,
)
from typer.testing import CliRunner

from command_line import app
from glyphtex import pages
from glyphtex.latex import find_formulas
from glyphtex.marks import Box, Formula, FormulaRegion, NextLine
from glyphtex.pages import PageFormulas, read_formulas
from omibench.errors import FileFormatError, MissingInputError
from omibench.explore.ocr_view import make_look_writer
from omibench.explore.ocr_view.doubts import list_doubts
from omibench.params.stages.ocr import OcrParams
from omibench.params.study import Study
from omibench.schemas.curation import Reject
from omibench.schemas.pages import OcrReport, PageText
from omibench.schemas.problem import Choice, DoubtfulFormula, Figure, Problem, ProblemWarning
from omibench.schemas.tables import read_jsonl, read_parquet, read_typed_json
from omibench.stages.filter import filter_problems
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.corrections.apply import SourceCorrections
from omibench.stages.ocr.corrections.entry import (
    Correction,
    CorrectionEntry,
    Split,
    collect_corrections,
    compute_digest,
    find_corrections,
    list_correction_inputs,
    read_corrections,
)
from omibench.stages.ocr.corrections.problems import MisfitError, merge_problems, split_problem
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.regions import Region as Drawing
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.structure.document import DocumentPage

# Corrections of a paper, made while it is read.

PERIOD = r"1. Find the period of the pendulum, which is $2\pi\sqrt{\frac{67R}{20g}}$"

FLAT = "1. Find the period of the pendulum, which is 2\n67R\n20g"

MENDED: dict[str, object] = {"page": 1, "box": list(FRACTION), "text": PERIOD, "was": FLAT}


def list_codes(problem: Problem) -> list[str]:
    return [warning.code for warning in problem.warnings]


def test_a_formula_that_lost_its_form_is_written_anew_and_the_suspicion_goes(
    tmp_path: Path,
) -> None:
    assert "math_suspect" in list_codes(read_mock(tmp_path).problems["1"])
    problem = read_mock(tmp_path, MENDED).problems["1"]
    assert problem.question.startswith(PERIOD.removeprefix("1. "))
    assert [str(warning) for warning in problem.warnings] == ["corrected: text by Ana"]
    (page,) = read_jsonl(tmp_path / "out/pages.jsonl", PageText)
    assert PERIOD in page.text
    assert [line.engine for line in page.lines if "pendulum" in line.text] == ["person"]


@pytest.mark.slow
def test_a_mended_problem_is_kept_by_the_filter_and_a_misfit_is_reported(tmp_path: Path) -> None:
    draw_paper(tmp_path / "mock.pdf")

    def read_and_filter() -> str:
        out = tmp_path / "ocr"
        done = CliRunner().invoke(app, ["ocr", str(tmp_path / "mock.pdf"), "--out", str(out)])
        assert done.exit_code == 0, done.output
        study = Study.model_validate({"filter": {"min_images": 0}})
        filter_problems(out / "problems.jsonl", tmp_path / "filter", study)
        return done.output

    read_and_filter()
    rejects = read_parquet(tmp_path / "filter/rejects.parquet", Reject).to_dicts()
    reasons = {row["id"]: set(row["reasons"]) for row in rejects}
    assert reasons["mock.pdf-1"] == {"answer_missing", "ocr_error"}

    answer = 'problem: "1", answer: [B], was: "", by: Bo'
    write_corrections(tmp_path, MENDED, answer)
    assert "2 corrections: 2 applied" in read_and_filter()
    (problem,) = read_jsonl(tmp_path / "filter/problems.jsonl", Problem)
    assert problem.number == "1"
    assert problem.answer == ["B"]
    corrected = [warning.detail for warning in problem.warnings if warning.code == "corrected"]
    assert corrected == ["text by Ana", "answer by Bo"]

    write_corrections(tmp_path, MENDED | {"was": "1. Find the area"}, answer)
    assert "2 corrections: 1 applied, 1 misfit" in read_and_filter()
    assert read_jsonl(tmp_path / "filter/problems.jsonl", Problem) == []
    problem = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)[0]
    assert "67R" in problem.question
    assert list_codes(problem) == ["math_suspect", "correction_misfit", "corrected"]
    (file,) = read_typed_json(tmp_path / "ocr/report.json", OcrReport).files
    assert (file.status, file.codes) == ("warning", ["correction_misfit"])
    place = "line 2, text of page 1, box (72, 80, 345, 111) by Ana"
    assert place in file.where["correction_misfit"]
    assert [(row.status, row.problems) for row in file.corrections] == [
        ("misfit", ["1"]), ("applied", ["1"]),
    ]  # fmt: skip


def test_texts_choices_answers_and_solutions_are_set(tmp_path: Path) -> None:
    digest = compute_digest("What is the third planet?  And which moon does it have?")
    reading = read_mock(
        tmp_path,
        'problem: "1", choice: {label: B, text: $5$ s}, was: 4 s',
        'problem: "1", answer: [B], was: ""',
        f"problem: '3', text: 'Which is the third planet?', was: '{digest}'",
        'problem: "3", choices: [{label: A, text: Earth}, {label: B, text: X}]',
        'problem: "3", solution: It is the Earth., note: from the web page',
        "page: 1, box: [300, 82, 330, 97], formula: '67R^{2}', was: 67R",
    )
    first, third = reading.problems["1"], reading.problems["3"]
    assert "$67R^{2}$" in first.question
    assert [choice.text for choice in first.choices or []] == ["3 s", "$5$ s", "5 s", "6 s"]
    assert first.answer == ["B"]
    assert (third.question, third.solution) == ("Which is the third planet?", "It is the Earth.")
    assert [choice.label for choice in third.choices or []] == ["A", "B"]
    assert reading.statuses == ["applied"] * 6


@pytest.mark.parametrize(
    ("entry", "status", "reason"),
    [
        ('problem: "1", answer: [E]', "misfit", "the answer E is not a choice"),
        ('problem: "9", text: Nothing of the kind.', "misfit", "no problem 9 was read"),
        ('problem: "1", choice: {label: B, text: 4 s}, was: 4 5', "agrees", ""),
        ('problem: "1", choice: {label: F, text: 4 s}', "misfit",
         "it has no choice F; its choices: A, B, C, D"),
        ('problem: "2", figure: {image: 0, box: [1000, 1000, 1100, 1100]}', "misfit",
         "page 1 ends before the start of the box"),
        ('problem: "3", figure: {image: 3, box: [10, 10, 50, 50]}', "misfit",
         "it has 0 figures, without [IMAGE3]"),
        ('problem: "2", drop: true, was: x', "misfit",
         "the current reading is How many sides does a square have? Give the number of them. "
         "[IMAGE0]"),
    ],
)  # fmt: skip
def test_what_does_not_fit_or_is_right_by_now_changes_nothing(
    tmp_path: Path, entry: str, status: str, reason: str
) -> None:
    reading = read_mock(tmp_path, entry)
    (row,) = reading.outcome.corrections
    assert (row.status, row.reason) == (status, reason)
    assert not [p for p in reading.problems.values() if "corrected" in list_codes(p)]


def test_a_problem_is_split_in_two_and_the_second_can_be_corrected(tmp_path: Path) -> None:
    problems = read_mock(
        tmp_path,
        'problem: "4", answer: [the Moon]',
        'problem: "3", split: {at: And  which moon, number: "4"}',
    ).problems
    assert list(problems) == ["1", "2", "3", "4"]
    assert problems["3"].question == "What is the third planet?"
    fourth = problems["4"]
    assert (fourth.id, fourth.group) == ("mock.pdf-4", "mock.pdf-4")
    assert (fourth.question, fourth.answer) == ("And which moon does it have?", ["the Moon"])
    warnings = [str(warning) for warning in fourth.warnings]
    assert warnings == ["corrected: answer by Ana", "corrected: split by Ana"]


def test_problems_are_merged_with_their_figures_and_dropped(tmp_path: Path) -> None:
    reading = read_mock(tmp_path, 'problem: "3", merge: "2"', 'problem: "1", drop: true')
    (problem,) = reading.problems.values()
    assert problem.number == "3"
    assert problem.question.index("planet") < problem.question.index("[IMAGE0]")
    assert len(problem.images) == 1


def test_a_figure_is_cut_anew_replaced_added_and_taken_out(tmp_path: Path) -> None:
    before = read_mock(tmp_path).problems["2"].images[0]
    box = "box: [140, 260, 260, 380]"
    cut = read_mock(tmp_path, f'problem: "2", figure: {{image: 0, {box}}}')
    (figure,) = cut.problems["2"].images
    assert figure.bbox == (140, 260, 260, 380)
    assert figure.sha256 != before.sha256
    assert (tmp_path / "out" / figure.file).is_file()

    picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 8, 8), 0)
    picture.clear_with(90)
    picture.save(tmp_path / "circle.png")
    problems = read_mock(
        tmp_path,
        'problem: "2", figure: {image: 0, file: circle.png}',
        f'problem: "3", figure: {{image: 0, page: 1, {box}}}',
    ).problems
    assert problems["2"].images[0].page is None
    assert problems["3"].question.endswith("[IMAGE0]")

    removed = read_mock(tmp_path, 'problem: "2", figure: {image: 0, remove: true}')
    assert removed.problems["2"].images == []
    assert "[IMAGE" not in removed.problems["2"].question


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

    monkeypatch.setattr(pages, "read_formulas", read)


@pytest.mark.usefixtures("_doubtful")
@pytest.mark.parametrize(
    ("entry", "status"),
    [
        (r"page: 1, box: {}, formula: 'x^{{2}}=3', was: '\mathrm{{x}}=3'", "applied"),
        (r"page: 1, box: {}, formula: '\mathrm{{x}}=3', was: '\mathrm{{x}} = 3'", "applied"),
        (r"page: 1, box: {}, formula: 'x^{{2}}=3', was: y=3", "misfit"),
        ('problem: "1", text: Find y.', "applied"),
    ],
)
def test_a_doubtful_formula_is_settled_by_a_correction(
    tmp_path: Path, entry: str, status: str
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

    reading = read_mock(tmp_path, fill_entry(entry.format(list(formula.bbox))))
    assert reading.statuses == [status]
    problem, is_settled = reading.problems["1"], status == "applied"
    assert (problem.question != doubtful.question) == (is_settled and "= 3" not in entry)
    assert (problem.doubtful_formulas == []) == is_settled
    codes = ["corrected"] if is_settled else ["formula_doubtful", "correction_misfit"]
    assert list_codes(problem) == codes
    assert (tmp_path / "out" / formula.file).exists() != is_settled


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
    (file,) = read_typed_json(tmp_path / "out/report.json", OcrReport).files
    (row,) = file.corrections
    assert (row.status, row.file) == (status, "key.pdf")
    place = "text of page 1, box (60, 108, 200, 124) of key.pdf"
    assert (place in file.where.get("correction_misfit", "")) == (status == "misfit")
    assert place in (tmp_path / "looks/mock.html").read_text("utf-8")


# `corrections.yaml`: mistakes of its writer are named with their lines.

MOCK = Source(name="mock", paper="papers/mock.pdf", key="papers/mock-key.pdf")


def write(folder: Path, *rows: str) -> Path:
    path = folder / "corrections.yaml"
    text = "".join(f"- {{paper: mock.pdf, by: Ana, {row}}}\n" for row in rows)
    path.write_text(f"corrections:\n{text}", "utf-8")
    return path


def collect(folder: Path, *sources: Source, manifest: str = "") -> dict[str, list[CorrectionEntry]]:
    """The entries of the file in a folder, by source."""
    if manifest:
        (folder / "sources.yaml").write_text(manifest, "utf-8")
    named = folder / "sources.yaml" if manifest else None
    return collect_corrections(None, named, [folder / "mock.pdf"], sources).by_source


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("problem: 12, drop: true", "write it in quotes"),
        ('problem: "12"', "sets nothing: set one of formula, text, choice"),
        ('problem: "12", drop: true, text: x', "sets text, drop: set one of"),
        ("page: 1, text: x", "give the place: page and box, or problem"),
        ('problem: "12", page: 1, box: [1, 1, 2, 2], text: x', "give the place"),
        ("page: 1, box: [1, 1, 2, 2], answer: [B]", "answer is corrected at a problem"),
        ('problem: "12", formula: x', "formula is corrected at a place"),
        ("page: 1, box: [5, 1, 2, 2], text: x", "x0 < x1"),
        ("page: 1, box: [.nan, 1, 2, 2], text: x", "x0 < x1"),
        ("page: 1, box: [1, 1, 2, 2], formula: $x$", "without dollar signs"),
        ("page: 1, box: [1, 1, 2, 2], formula: 'x^{2'", "a brace is not closed"),
        ('problem: "1", figure: {image: 0}', "give one of box, file, remove"),
        ('problem: "1", merge: "1"', "merge: a problem cannot be merged with itself"),
        ('problem: "1", dropp: true', "unknown key; did you mean 'drop'?"),
        ('problem: "1", figure: {image: 0, file: ../x.png}', "line 2: figure.file"),
        ('problem: "1", figure: {image: 0, file: x.png}', "line 2: figure.file: 'x.png' is not in"),
        ('problem: "1", answer: [1.50]', "write it in quotes"),
        ('problem: "1", split: {at: " ", number: "2"}', "split.at"),
    ],
)
def test_a_wrong_entry_is_named_with_its_line(tmp_path: Path, row: str, message: str) -> None:
    path = write(tmp_path, row)
    with pytest.raises(FileFormatError) as caught:
        read_corrections(path)
    assert message in str(caught.value)
    assert "line 2" in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("page: 1, box: [10, 10, 90, 30], formula: x", "page: 1, box: [12, 8, 88, 31], text: y"),
        ('problem: "1", text: x', 'problem: "1", text: x'),
        ('problem: "1", answer: [A]', 'problem: "1", answer: [B]'),
        ('problem: "1", choice: {label: A, text: x}', 'problem: "1", choices: []'),
        ('problem: "1", choices: []', 'problem: "1", choice: {label: A, text: x}'),
        ('problem: "1", drop: true', 'problem: "1", answer: [B]'),
        ('problem: "2", text: x', 'problem: "1", merge: "2"'),
        ('problem: "1", merge: "3"', 'problem: "2", merge: "3"'),
        (
            'problem: "1", figure: {image: 0, remove: true}',
            'problem: "1", figure: {image: 0, box: [1, 1, 9, 9]}',
        ),
    ],
)
def test_two_corrections_of_one_place_are_an_error_with_both_lines(
    tmp_path: Path, first: str, second: str
) -> None:
    write(tmp_path, first, 'problem: "7", drop: true', second)
    with pytest.raises(FileFormatError, match=r"line 4: corrects the same place as line 2"):
        collect(tmp_path, MOCK)


@pytest.mark.parametrize("text", ["", "corrections:\n", "corrections: []\n", "# nothing yet\n"])
def test_a_file_without_entries_corrects_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "corrections.yaml").write_text(text, "utf-8")
    assert read_corrections(tmp_path / "corrections.yaml") == []


def test_different_places_go_together(tmp_path: Path) -> None:
    write(
        tmp_path,
        "page: 1, box: [10, 10, 50, 30], formula: x",
        "page: 1, box: [48, 10, 90, 30], formula: y",
        "page: 2, box: [10, 10, 50, 30], text: z",
        'problem: "1", text: x',
        'problem: "1", answer: [B]',
        'problem: "1", choice: {label: A, text: x}',
        'problem: "1", choice: {label: B, text: x}',
        'problem: "2", text: x',
    )
    entries = collect(tmp_path, MOCK)["mock"]
    assert [entry.line for entry in entries] == list(range(2, 10))
    assert {entry.file for entry in entries} == {"papers/mock.pdf"}


def test_a_paper_is_named_by_its_source_its_path_or_its_file(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    folder = str(tmp_path)
    source = Source(name="mock", paper=f"{folder}/papers/a.pdf", key=f"{folder}/papers/k.pdf")
    rows = [
        f"- {{paper: {name}, page: {k}, box: [1, 1, 9, 9], text: x, by: Bo}}"
        for k, name in enumerate(("mock", "papers/a.pdf", "a.pdf", "k.pdf"), 1)
    ]
    path.write_text("corrections:\n" + "\n".join(rows), "utf-8")
    entries = collect(tmp_path, source)["mock"]
    assert [Path(entry.file).name for entry in entries] == ["a.pdf", "a.pdf", "a.pdf", "k.pdf"]


def test_a_problem_of_a_key_and_a_name_of_two_papers_are_refused(tmp_path: Path) -> None:
    write(tmp_path, 'problem: "1", drop: true')
    twins = [Source(name=name, paper=f"{name}/mock.pdf") for name in ("one", "two")]
    with pytest.raises(FileFormatError, match=r"line 2: paper 'mock.pdf' is a file of one and two"):
        collect(tmp_path, *twins)
    key = Source(name="other", paper="paper.pdf", key="mock.pdf")
    with pytest.raises(FileFormatError, match=r"line 2: mock.pdf is the key or the solutions"):
        collect(tmp_path, key)
    listed = "sources: [{name: m, paper: mack.pdf}]\n"
    with pytest.raises(FileFormatError, match=r"line 2: paper 'mock.pdf' .*mean 'mack.pdf'"):
        collect(tmp_path, manifest=listed)
    listed += "benchmarks: [{name: mock.pdf, folder: mock}]"
    with pytest.raises(FileFormatError, match=r"line 2: mock.pdf is a benchmark.*review\.decis"):
        collect(tmp_path, manifest=listed)
    assert collect(tmp_path, manifest="sources: [{name: m, paper: mock.pdf}]") == {}


def test_without_a_manifest_other_papers_are_said_and_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, 'problem: "1", drop: true')
    with caplog.at_level(logging.WARNING):
        assert collect(tmp_path, Source(name="x.pdf", paper="x.pdf")) == {}
    assert f"{path}, line 2: paper 'mock.pdf' is not read" in caplog.text


def test_the_file_lies_beside_the_manifest_or_where_a_parameter_says(tmp_path: Path) -> None:
    manifest = tmp_path / "sources.yaml"
    beside = OcrParams(sources=str(manifest))
    assert find_corrections(None, manifest) is None
    assert list_correction_inputs(beside) == []
    path = write(tmp_path, 'problem: "1", figure: {image: 0, file: circle.png}')
    (tmp_path / "circle.png").write_bytes(b"")
    assert find_corrections(None, manifest) == path
    inputs = [str(path), str(tmp_path / "circle.png")]
    assert list_correction_inputs(beside) == inputs
    elsewhere = str(tmp_path / "elsewhere/sources.yaml")
    stated = OcrParams(sources=elsewhere, corrections=str(path))
    assert list_correction_inputs(stated) == inputs
    with pytest.raises(MissingInputError, match=r"ocr.corrections: nowhere.yaml"):
        find_corrections("nowhere.yaml", manifest)


def test_the_parts_of_an_answer_may_be_a_list_in_was_too(tmp_path: Path) -> None:
    path = write(tmp_path, 'problem: "1", answer: [B], was: [A, C]')
    (entry,) = read_corrections(path)
    assert entry.correction.was == "A; C"


# Formulas and texts corrected at their boxes, on pages of a few lines.

LINE = Box(60, 90, 360, 104)

LEFT, RIGHT = Box(100, 88, 130, 106), Box(250, 88, 280, 106)


def make_line(text: str, box: Box = LINE, **fields: object) -> Line:
    return Line(1, box, text, 11.0, baseline=box.y1 - 2, **fields)  # type: ignore[arg-type]


def make_formula(latex: str, box: Box) -> Formula:
    return Formula(FormulaRegion(box, ()), latex, ("unsure",))


def make_corrections(*entries: Entry) -> SourceCorrections:
    corrections = [Correction.model_validate(fill_entry(entry)) for entry in entries]
    return SourceCorrections(
        [CorrectionEntry(number=k, line=k, correction=c) for k, c in enumerate(corrections)]
    )


def correct(lines: list[Line], entry: str, box: Box = LEFT) -> tuple[DocumentPage, str]:
    """The page after one correction, and what became of that."""
    drawings = [Drawing(Box(100, 200, 130, 215)), Drawing(Box(50, 150, 500, 400))]
    page = DocumentPage(1, 600, 800, lines, drawings)
    corrections = make_corrections(f"page: 1, box: {list(box)}, {entry}")
    corrections.correct_page("", page)
    return page, corrections.rows[0].status


@pytest.mark.parametrize(
    ("text", "is_placed", "box", "entry", "status", "after"),
    [
        ("With $a_{1}$ and then $a_{1}$.", True, RIGHT, "formula: 'a_{2}', was: a_1", "applied",
         "With $a_{1}$ and then $a_{2}$."),
        ("It is $a_1$.", True, LEFT, "formula: 'a_{1}', was: 'u_{1}'", "agrees", "It is $a_1$."),
        ("With $a_{1}$ and then $a_{1}$.", False, LEFT, "formula: 'a_{2}', was: 'a_{1}'", "applied",
         "With $a_{2}$ and then $a_{1}$."),
        ("With $a_{1}$ and then $a_{1}$.", False, RIGHT, "formula: 'a_{2}', was: 'a_{1}'",
         "applied", "With $a_{1}$ and then $a_{2}$."),
        ("It is $x$.", False, LEFT, "formula: y", "applied", "It is $y$."),
        ("It is $x$ and $z$.", False, LEFT, "formula: y", "misfit", None),
        ("It is $x$.", False, LEFT, "formula: y, was: z", "misfit", None),
        ("It is $y$.", False, LEFT, "formula: y, was: x", "agrees", None),
        ("It costs $5 or $7.", False, LEFT, "formula: y", "misfit", None),
        ("11 2 d", False, LEFT, r"formula: '\frac{11}{2}', was: 11 2", "applied",
         r"$\frac{11}{2}$ d"),
        ("11 2 d and 11 2 e", False, LEFT, r"formula: '\frac{11}{2}', was: 11 2", "misfit", None),
        ("It is $x 5$.", False, LEFT, "formula: y, was: '5'", "misfit", None),
        ("It is $x$.", False, Box(60, 300, 90, 320), "formula: y", "misfit", None),
    ],
)  # fmt: skip
def test_what_becomes_of_a_formula(
    text: str, is_placed: bool, box: Box, entry: str, status: str, after: str | None
) -> None:
    latex = find_formulas(text)
    formulas = [
        make_formula(f.latex, place) for f, place in zip(latex, (LEFT, RIGHT), strict=False)
    ]
    line = make_line(text, formulas=tuple(formulas) if is_placed else ())
    page, outcome = correct([line], entry, box)
    assert (page.lines[0].text, outcome) == (text if after is None else after, status)
    for formula, place in zip(page.lines[0].formulas, (LEFT, RIGHT), strict=False):
        assert (formula.doubts == ()) == (place == box)


@pytest.mark.parametrize("box", [Box(300, 88, 360, 106), Box(60, 104, 90, 120)])
def test_a_broken_formula_is_corrected_at_its_part_in_either_line(box: Box) -> None:
    second = NextLine(FormulaRegion(Box(60, 104, 90, 120), ()), 300, -14)
    region = FormulaRegion(Box(300, 88, 360, 106), (), following=(second,))
    line = make_line("So $a=b+c$", formulas=(Formula(region, "a=b+c", ("unsure",)),))
    rest = make_line("holds.", Box(60, 104, 360, 118))
    page, status = correct([line, rest], "formula: a=b-c, was: a=b+c", box)
    assert ([line.text for line in page.lines], status) == (["So $a=b-c$", "holds."], "applied")
    assert page.lines[0].formulas[0].doubts == ()


@pytest.mark.parametrize(
    ("box", "entry", "texts", "drawings"),
    [
        (
            Box(95, 85, 290, 110),
            r'text: "One: $x$\nTwo", was: 2x 7',
            ["above", "One: $x$", "Two", "below"],
            2,
        ),
        (Box(98, 198, 140, 218), 'text: $x$, was: ""', ["above", "2x", "7", "below", "$x$"], 1),
        (Box(60, 85, 290, 110), 'text: ""', ["above", "below"], 2),
    ],
)
def test_lines_in_the_box_become_those_that_a_person_wrote(
    box: Box, entry: str, texts: list[str], drawings: int
) -> None:
    above, below = Box(60, 70, 90, 82), Box(60, 120, 90, 132)
    lines = [make_line("above", above), make_line("2x", LEFT, stacked=True),
             make_line("7", RIGHT), make_line("below", below)]  # fmt: skip
    page, status = correct(lines, entry, box)
    assert (status, [line.text for line in page.lines]) == ("applied", texts)
    assert len(page.regions) == drawings
    written = [line for line in page.lines if line.engine == "person"]
    assert not any(line.stacked for line in written)
    for first, second in pairwise(written):
        assert first.box.y1 == second.box.y0
        assert first.baseline < second.baseline


# Problems split and merged, with the marks of their figures.


def make_problem(number: str, question: str, **fields: object) -> Problem:
    values: dict[str, object] = {
        "id": f"mock-{number}",
        "group": f"mock-{number}",
        "source": "mock",
        "source_sha256": "0" * 64,
        "pages": [1],
        "number": number,
        "question": question,
    }
    return Problem.model_validate(values | fields)


def make_figures(*names: str) -> list[Figure]:
    return [Figure(file=f"{name}.png", sha256=name * 64) for name in names]


def list_files(problem: Problem) -> list[str]:
    return [figure.file for figure in problem.images]


def test_figures_go_with_the_text_that_shows_them() -> None:
    problem = make_problem(
        "1",
        "See [IMAGE1].\n\nAnd now [IMAGE0] and [IMAGE1]?",
        images=make_figures("a", "b", "c", "d"),
        choices=[Choice(label="A", image=2), Choice(label="B", text="[IMAGE0] again")],
    )
    first, second = split_problem(problem, Split(at="And now", number="2"))
    assert (first.question, first.choices) == ("See [IMAGE0].", None)
    assert list_files(first) == ["b.png", "d.png"]
    assert second.question == "And now [IMAGE0] and [IMAGE1]?"
    assert list_files(second) == ["a.png", "b.png", "c.png"]
    assert [(c.text, c.image) for c in second.choices or []] == [
        (None, 2),
        ("[IMAGE0] again", None),
    ]


def test_a_problem_is_split_within_its_choices() -> None:
    texts = ["one", "two 2. Which is it?", "three", "four"]
    choices = [Choice(label=k, text=t) for k, t in zip("ABCD", texts, strict=True)]
    first, second = split_problem(
        make_problem("1", "What?", choices=choices), Split(at="Which is", number="2")
    )
    assert [choice.text for choice in first.choices or []] == ["one", "two 2."]
    assert second.question == "Which is it?"
    assert [choice.label for choice in second.choices or []] == ["C", "D"]


@pytest.mark.parametrize("at", ["nowhere", "again"])
def test_a_split_needs_one_place(at: str) -> None:
    with pytest.raises(MisfitError, match=r"occurs \d times"):
        split_problem(make_problem("1", "again and again"), Split(at=at, number="2"))


def test_marks_of_a_merged_problem_count_on() -> None:
    one = make_problem("1", "See [IMAGE0].", images=make_figures("a"), pages=[1])
    two = make_problem(
        "2",
        "And [IMAGE0] with [IMAGE1].",
        images=make_figures("b", "c"),
        choices=[Choice(label="A", image=1), Choice(label="B", text="[IMAGE0]")],
        pages=[2],
    )
    merged = merge_problems(one, two)
    assert merged.question == "See [IMAGE0].\n\nAnd [IMAGE1] with [IMAGE2]."
    assert list_files(merged) == ["a.png", "b.png", "c.png"]
    assert [(c.text, c.image) for c in merged.choices or []] == [(None, 2), ("[IMAGE1]", None)]
    assert (merged.id, merged.pages) == ("mock-1", [1, 2])
    with pytest.raises(MisfitError, match="both have a choice A"):
        merge_problems(two, two)


def test_what_cannot_be_done_is_said_and_a_gap_that_is_closed_goes() -> None:
    gap = ProblemWarning("number_gap", "1 is followed by 3")
    problems = [make_problem("1", "One. Two."), make_problem("3", "Three.", warnings=[gap])]
    log = make_corrections(
        'problem: "1", split: {at: Two., number: "3"}',
        'problem: "1", merge: "7"',
        'problem: "3", split: {at: Three., number: "4"}, was: Something else.',
        'problem: "1", split: {at: Two., number: "2"}',
    )
    corrected = log.correct_structure(problems)
    assert [problem.number for problem in corrected] == ["1", "2", "3"]
    assert corrected[2].warnings == []
    assert [row.status for row in log.rows] == ["misfit", "misfit", "misfit", "applied"]
    assert log.rows[0].reason == "problem 3 already exists"
    assert log.rows[1].reason == "no problem 7 was read"
    assert log.rows[3].problems == ["1", "2"]


def test_doubts_go_with_the_text_that_they_were_about() -> None:
    formulas = [
        DoubtfulFormula(
            page=3,
            bbox=(9.5, y, 20.4, y + 9),
            latex=latex,
            file="f.png",
            sha256="",
            doubts=["unsure"],
        )
        for y, latex in ((100, "x^{2}"), (200, "y^{2}"))
    ]
    warnings = [
        ProblemWarning("formula_doubtful", f"page 3, box (10, {y}, 20, {y + 9}): unsure")
        for y in (100, 200)
    ]
    problem = make_problem(
        "1",
        "Find $x^{2}$.",
        choices=[Choice(label="A", text="$y^{2}$"), Choice(label="B", text="z \ufffd")],
        doubtful_formulas=formulas,
        warnings=[*warnings, ProblemWarning("garbled_text", "characters")],
    )
    for label, text, codes in (
        ("A", "$y^{3}$", ["formula_doubtful", "garbled_text"]),
        ("B", "z", ["formula_doubtful", "formula_doubtful"]),
    ):
        log = make_corrections({"problem": "1", "choice": {"label": label, "text": text}})
        (after,) = log.correct_problems([problem], lambda change, before: before, {})  # type: ignore[arg-type,return-value]
        assert after.doubtful_formulas == formulas[: 1 if label == "A" else 2]
        assert list_codes(after) == [*codes, "corrected"]
    first, second = split_problem(problem, Split(at="$x^{2}$", number="2"))
    assert first.doubtful_formulas == []
    assert second.doubtful_formulas == formulas
