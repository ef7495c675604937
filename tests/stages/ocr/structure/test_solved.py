"""A document of solutions alone says so: its solutions are never asked."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.codes import CODES
from omibench.stages.ocr.jobs import OcrJob
from omibench.stages.ocr.pipeline import read_source
from omibench.stages.ocr.sources.manifest import Source

PROSE = [
    "By conservation of energy the speed at the lower end is the root of twice g h, and so the",
    "kinetic energy there is that of the cart alone, which gives 4.2 m/s in this case.",
]


def read(folder: Path, title: str, *first: str, asks: str = "") -> tuple[list[str], list[Problem]]:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((72, 60), title, fontsize=14)
    for n in range(1, 7):
        for row, text in enumerate([f"{n}. {first[n % len(first)]} {PROSE[0]}", PROSE[1], asks]):
            page.insert_text((72, 40 + 60 * n + 14 * row), text, fontsize=10)
    pdf.save(folder / "p.pdf")
    job = OcrJob(
        source=Source(name="p", paper=str(folder / "p.pdf")), folder=folder, params=OcrParams()
    )
    codes = read_source(job).codes
    return codes, read_jsonl(folder / "problems.jsonl", Problem)


@pytest.mark.parametrize(
    ("title", "first"),
    [
        ("Test 2012", ("Item d).", "Item a).")), ("Test", ("Alternativa D.",)),
        ("Solutions of the test", ("",)), ("Resolução da prova", ("",)),
        ("Physics Olympiad 2012: worked solutions", ("First,", "Then,")),
    ],
)  # fmt: skip
def test_solutions_alone_are_told(tmp_path: Path, title: str, first: tuple[str, ...]) -> None:
    codes, _ = read(tmp_path, title, *first)
    assert "solutions_only" in codes
    assert "`solutions:`" in CODES["solutions_only"].remedy


def test_a_letter_at_the_head_of_a_solution_is_no_question(tmp_path: Path) -> None:
    _, problems = read(tmp_path, "Test 2012", "Item d).", "Item a).")
    assert {problem.question for problem in problems} == {""}
    assert [problem.answer for problem in problems[:2]] == [["A"], ["D"]]


@pytest.mark.parametrize(
    ("title", "asks"),
    [
        ("Solutions and questions", "What is its speed after that?"),
        ("Physics: with solutions", "(A) 3 m/s (B) 4 m/s (C) 5 m/s"),
        ("Test 2012", ""),
    ],
)
def test_what_asks_or_has_no_such_title_is_a_paper(tmp_path: Path, title: str, asks: str) -> None:
    codes, _ = read(tmp_path, title, "", asks=asks)
    assert "solutions_only" not in codes
