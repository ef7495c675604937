"""The sample booklets, read from their PDFs, against the sources that they were typeset from."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from rapidfuzz import fuzz

from omibench.files.yaml_file import read_yaml
from omibench.schemas.pages import OcrReport
from omibench.schemas.problem import IMAGE_MARK, Problem
from omibench.schemas.tables import read_jsonl, read_typed_json

pytestmark = pytest.mark.slow
Row = dict[str, Any]
ROOT = Path(__file__).parents[3]
BOOKLETS = sorted(path.stem for path in (ROOT / "sample/booklets").glob("*.yaml"))
ALIKE = 94.0


class Reading(NamedTuple):
    report: OcrReport
    problems: dict[str, list[Problem]]
    folder: Path


@pytest.fixture(scope="module")
def reading(sample_papers: Path) -> Reading:
    """Every booklet of the sample, read once."""
    report = read_typed_json(sample_papers / "report.json", OcrReport)
    problems: dict[str, list[Problem]] = {file.source: [] for file in report.files}
    for problem in read_jsonl(sample_papers / "problems.jsonl", Problem):
        problems[problem.source].append(problem)
    return Reading(report, problems, sample_papers)


@cache
def load(name: str) -> Row:
    booklet: Row = read_yaml(ROOT / f"sample/booklets/{name}.yaml")
    return booklet


def pairs(booklet: Row, reading: Reading) -> list[tuple[Row, Problem]]:
    """Each problem of a booklet's source with the one that was read under its number."""
    read = {problem.number: problem for problem in reading.problems[booklet["booklet"]]}
    return [(row, read[str(row["number"])]) for row in booklet["problems"]]


def stems_of(booklet: Row, row: Row) -> list[Row]:
    return [s for s in booklet.get("stems") or [] if row["number"] in s["problems"]]


def figures_of(booklet: Row, row: Row) -> list[Row]:
    """The figures of a problem in reading order, those of its stem first, no picture choices."""
    own = row.get("figures") or []
    return [f for s in stems_of(booklet, row) for f in s.get("figures") or []] + own


DIGITAL = [name for name in BOOKLETS if not load(name).get("scan")]
SCANS = [name for name in BOOKLETS if load(name).get("scan")]


@pytest.mark.parametrize("name", DIGITAL)
def test_every_problem_has_its_figures_where_they_stand_with_their_captions(
    name: str, reading: Reading
) -> None:
    booklet = load(name)
    wanted_numbers = [str(row["number"]) for row in booklet["problems"]]
    assert [problem.number for problem in reading.problems[name]] == wanted_numbers
    boxes = {}
    for row, problem in pairs(booklet, reading):
        assert problem.id == f"{name}-{problem.number}"
        figures = figures_of(booklet, row)
        pictured = [c for c in row.get("choices") or [] if isinstance(c, dict)]
        assert len(problem.images) == len(figures) + len(pictured), problem.id
        for wanted, found in zip(figures, problem.images, strict=False):
            number, _, caption = (found.caption or "").partition(":")
            assert number == wanted["id"], problem.id
            assert _alike(wanted["caption"], caption) >= ALIKE, problem.id
        in_choices = {c.image for c in problem.choices or [] if c.image is not None}
        marks = [int(mark) for mark in IMAGE_MARK.findall(problem.question)]
        assert marks == [k for k in range(len(problem.images)) if k not in in_choices]
        for figure in problem.images:
            assert (reading.folder / figure.file).is_file()
            assert figure.bbox is not None
            boxes[figure.file] = (figure.page, figure.bbox)
    for (page, a), (other, b) in combinations(boxes.values(), 2):
        shared = (min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1]))
        assert page != other or min(shared) < 5, (name, page, a, b)


@pytest.mark.parametrize("name", DIGITAL)
def test_choices_are_texts_or_pictures_as_printed(name: str, reading: Reading) -> None:
    for row, problem in pairs(load(name), reading):
        wanted = row.get("choices") or []
        found = problem.choices or []
        assert [c.label for c in found] == list("ABCDEFGH"[: len(wanted)]), problem.id
        for printed, choice in zip(wanted, found, strict=True):
            assert (choice.image is not None) == isinstance(printed, dict), problem.id
            if isinstance(printed, str):
                assert _alike(printed, choice.text or "") >= ALIKE, (problem.id, choice)
        # Picture choices are set in rows, so letters go from left to right and from top to bottom.
        boxes = [problem.images[c.image].bbox for c in found if c.image is not None]
        places = [(round(box[3] / 20), box[0]) for box in boxes if box]
        assert places == sorted(places), problem.id


@pytest.mark.parametrize("name", DIGITAL)
def test_answers_solutions_groups_and_subjects_are_those_of_the_source(
    name: str, reading: Reading
) -> None:
    booklet = load(name)
    for row, problem in pairs(booklet, reading):
        has_answers = booklet.get("key") or booklet.get("solutions")
        assert problem.answer == (row["answer"] if has_answers else None), problem.id
        assert bool(problem.solution) == bool(booklet.get("solutions")), problem.id
        if problem.solution:
            assert _alike(row["solution"], problem.solution) >= 80, problem.id
            # The repetition of the question is no part of the solution.
            assert not _letters(problem.solution).startswith(_letters(row["text"])[:40])
        stems = stems_of(booklet, row)
        numbers = stems[0]["problems"] if stems else []
        assert problem.group == (f"{name}-{numbers[0]}-{numbers[-1]}" if stems else problem.id)
        for stem in stems:
            assert _letters(problem.question).startswith(_letters(stem["text"])[:40]), problem.id
        assert problem.language == booklet.get("language", "en")
        assert (problem.competition, problem.year) == (booklet["competition"], booklet["year"])
        assert problem.subject == row.get("subject", booklet["subject"]), problem.id


@pytest.mark.parametrize("name", DIGITAL)
def test_statements_read_as_they_were_written(name: str, reading: Reading) -> None:
    booklet = load(name)
    for row, problem in pairs(booklet, reading):
        if row.get("rejected") == "ocr_error":
            assert problem.warnings, problem.id
            continue
        texts = [stem["text"] for stem in stems_of(booklet, row)] + [row["text"]]
        captions = {figure.caption for figure in problem.images}
        lines = [
            ln for ln in IMAGE_MARK.sub("", problem.question).splitlines() if ln not in captions
        ]
        assert _alike(" ".join(texts), " ".join(lines)) >= ALIKE, (problem.id, problem.question)
        assert problem.warnings == [], problem.id


@pytest.mark.parametrize("name", SCANS)
def test_the_problems_of_a_scan_are_read_by_the_engine(name: str, reading: Reading) -> None:
    (file,) = [file for file in reading.report.files if file.source == name]
    assert (file.status, file.codes) == ("ok", [])
    booklet = load(name)
    for row, problem in pairs(booklet, reading):
        assert len(problem.images) == len(row["figures"]), problem.id
        assert len(problem.choices or []) == len(row.get("choices") or []), problem.id
        lines = "".join([problem.question, *(c.text or "" for c in problem.choices or [])])
        assert fuzz.partial_ratio(_letters(row["text"])[:60], _letters(lines)) > 85, problem.id


def test_digital_booklets_are_read_without_a_warning(reading: Reading) -> None:
    files = {file.source: file for file in reading.report.files}
    assert {name: files[name].codes for name in DIGITAL} == {name: [] for name in DIGITAL}


def _letters(text: str) -> str:
    """Letters and digits of typst markup or of read text, words of formulas left out."""
    text = re.sub(r'"([^"]*)"', r"\1", text)
    text = re.sub(r"\^\{?|_\{?|\}", "", text)
    return "".join(c for c in text.lower() if c.isalnum())


def _alike(written: str, read: str) -> float:
    return float(fuzz.ratio(_letters(written), _letters(read)))
