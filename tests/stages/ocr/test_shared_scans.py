"""Simulated scans of real papers, and real photographs, read by the engine of this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omibench.answers.transcripts import best_window
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import FileReport, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import read_papers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
SCANS = {
    "simscan_CNAO_2023_p1-3.pdf": ("CNAO_2023.gt.json", 1, 3),
    "simscan_MockFMA-2021_p2-7.pdf": ("MockFMA-2021.gt.json", 2, 7),
}
PHOTOGRAPHS = {"0015.jpg": 270, "0096.jpg": 0}
"""A picture that lies on its side and a blurred one, and by how much they are to be turned."""

Result = tuple[dict[str, FileReport], dict[str, list[Problem]], dict[str, list[PageText]]]


@pytest.fixture(scope="module")
def read(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Scans and photographs read once, by file name."""
    pytest.importorskip("rapidocr")
    out = tmp_path_factory.mktemp("scans")
    files = [shared_data / "exam_pdfs" / name for name in SCANS]
    files += [shared_data / "mathreal/img/real" / name for name in PHOTOGRAPHS]
    report = read_papers(files, out, OcrParams(timeout_s=3600, dpi=72))
    problems: dict[str, list[Problem]] = {file.name: [] for file in files}
    pages: dict[str, list[PageText]] = {file.name: [] for file in files}
    for problem in read_jsonl(out / "problems.jsonl", Problem):
        problems[problem.source].append(problem)
    for page in read_jsonl(out / "pages.jsonl", PageText):
        pages[page.source].append(page)
    return {file.source: file for file in report.files}, problems, pages


def truth(shared_data: Path, name: str) -> dict[str, dict[str, Any]]:
    """What was counted of the problems on the pages of a scan, by number."""
    file, first, last = SCANS[name]
    told = json.loads((shared_data / "exam_pdfs" / file).read_text("utf-8"))
    inside = range(first, last + 1)
    found = {
        str(problem["number"]): problem
        for problem in told["problems"]
        if all(page in inside for page in problem["pages"])
    }
    for stem in told["shared_stems"]:
        for number in map(str, stem["problems"]):
            if number in found:
                found[number]["n_figures"] += stem["n_figures"]
    return found


@pytest.mark.parametrize("name", SCANS)
def test_scans_give_their_problems_choices_and_figures(
    shared_data: Path, read: Result, name: str
) -> None:
    files, problems, pages = read
    wanted = truth(shared_data, name)
    found = {problem.number: problem for problem in problems[name]}
    assert found.keys() >= wanted.keys()
    letters = {n: [choice.label for choice in found[n].choices or []] for n in wanted}
    right = sum(letters[n] == (told["choices"] or []) for n, told in wanted.items())
    assert right >= 0.9 * len(wanted)
    for number, told in wanted.items():
        assert abs(len(found[number].images) - told["n_figures"]) <= 1, number
    assert {page.engine for page in pages[name]} == {"rapidocr"}
    for page in pages[name]:
        assert abs(page.turn) < 2
        assert all(0 <= (line.confidence or 0) <= 1 for line in page.lines)
    assert (files[name].peak_mb or 0) < 600


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_photographs_are_read_as_they_stand_upright(
    shared_data: Path, read: Result, name: str
) -> None:
    _, problems, pages = read
    index = json.loads((shared_data / "mathreal/index.json").read_text("utf-8"))
    printed = next(row["QuestionCN"] for row in index if row["ImgReal"].endswith(name))
    (page,) = pages[name]
    assert page.turn == pytest.approx(PHOTOGRAPHS[name], abs=5)
    assert best_window(page.text, printed) > 0.8
    assert len(problems[name]) == 1
