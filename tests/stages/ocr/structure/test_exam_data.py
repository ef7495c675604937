"""Running heads that tell points and time belong to no statement, however close they stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count, cycle, islice
from pathlib import Path

import pymupdf
import pytest

from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.reading_order import says_points, says_time
from omibench.stages.ocr.structure.document import read_document
from omibench.stages.ocr.structure.drafts import read_paper

BODY = [
    "A cart rolls down a slope of length 4 m without friction and hits a spring at its lower",
    "end, which is compressed by 20 cm before the cart comes to rest for the first time. What",
    "is the constant of the spring, if losses are left out of account in your answer to this?",
    "Give it in newtons per metre, with two digits, and say how you have found the answer.",
]
Head = Sequence[tuple[float, float, str]]
NAME = "National Physics Olympiad 2024, round 2"


def paper(heads: Sequence[Head], top: float) -> pymupdf.Document:
    """Numbered problems that run over the pages, each page with a head (x, y, text)."""
    pdf = pymupdf.open()
    lines = chain.from_iterable([f"{n}. {BODY[0]}", *BODY[1:], ""] for n in count(1))
    for head in heads:
        page = pdf.new_page()
        for x, y, text in head:
            page.insert_text((x, y), text, fontsize=10.5)
        for row, text in enumerate(islice(lines, int((760 - top) / 14))):
            page.insert_text((72, top + 14 * row), text, fontsize=10.5)
    return pdf


def statements(pdf: pymupdf.Document) -> list[str]:
    drafts = read_paper(read_document(pdf)).drafts
    return [" ".join(i.text for i in d.items if isinstance(i, Line)) for d in drafts]


LOW = [(72, 60, NAME), (72, 78, "Time allowed: 90 minutes"), (72, 110, "Maximum: 60 points")]
CLOSE = [(72, 50, NAME), (72, 64, "Time: 90 minutes, 60 points")]
ONE = [(72, 50, "Time: 90 minutes   Points: 60")]
VARIED = [
    [(72, 45, f"{word} ({points} points, {points + 5} min)")]
    for word, points in [("Motion", 20), ("Optics", 10), ("Waves", 15), ("Heat", 25)]
]


@pytest.mark.parametrize(
    ("heads", "top"),
    [
        ([LOW] * 4, 140), ([CLOSE] * 4, 78), ([[], ONE, [], []], 80), (VARIED, 62),
        ([[(72, 50, "Zeit: 120 min"), (300, 50, "Punkte: ___ / 40")]] * 3, 64),
    ],
)  # fmt: skip
def test_a_head_with_exam_data_is_in_no_statement(heads: Sequence[Head], top: float) -> None:
    found = statements(paper(heads, top))
    whole = " ".join(BODY)
    assert len(found) > 10
    assert set(found[:-1]) == {whole}


def test_points_that_a_problem_tells_stay_with_it() -> None:
    """One problem a page, its points below its number."""
    pdf = pymupdf.open()
    for n, start in zip(range(1, 5), cycle([0, 1]), strict=False):
        page = pdf.new_page()
        page.insert_text((72, 60), f"Problem {n}. (10 points, 20 min) {BODY[start]}", fontsize=10.5)
        for row, text in enumerate(BODY[start + 1 :], 1):
            page.insert_text((72, 60 + 14 * row), text, fontsize=10.5)
    found = statements(pdf)
    assert len(found) == 4
    assert all("20 min) A cart" in text or "20 min) end" in text for text in found)


@pytest.mark.parametrize(
    "text",
    [
        "Total: 60 points", "Points: ____", "Max. 30 pts", "Punkte: 12", "满分100", "60 marks",
        "Počet bodů: 40", "Баллы: 20", "suma 40 pkt.", "配点 30",
    ],
)  # fmt: skip
def test_points(text: str) -> None:
    assert says_points(text)


@pytest.mark.parametrize(
    "text",
    [
        "Time: 90 minutes", "Time allowed 3 hours", "(20 points, 15 min)", "Dauer ... Zeit: 90",
        "考试时间：120分钟", "Время: 4 часа", "Duração: 2 h", "Czas: 120 minut",
    ],
)  # fmt: skip
def test_times(text: str) -> None:
    assert says_time(text)


@pytest.mark.parametrize(
    "text", ["at two points A and B", "the time after which it stops", "in 90 minutes", "x" * 5000]
)
def test_what_tells_neither(text: str) -> None:
    assert not says_points(text)
    assert not says_time(text)


def test_the_real_papers_lose_nothing(shared_data: Path) -> None:
    """No head of these papers tells points or time; test_exam_pdfs holds their problems."""
    text = (shared_data / "exam_pdfs/MockFMA-2021.pdf").read_bytes()
    pages = read_document(pymupdf.open(stream=text, filetype="pdf")).pages
    lost = [line for sheet in pages for line in sheet.lines if id(line) in sheet.furniture]
    assert not [line.text for line in lost if says_points(line.text)]
