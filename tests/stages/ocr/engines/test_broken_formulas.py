"""Formulas that are broken over two lines, in lines, paragraphs and crops of a page."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from omibench.stages.ocr.engines.textlayer import read_lines
from omibench.stages.ocr.layout.crops import crop_formulas
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.reading_order import paragraphs

LEFT = 50.0


def put(page: pymupdf.Page, text: str, y: float) -> None:
    """A line of roman type; what is between bars is italic."""
    x = LEFT
    for k, part in enumerate(text.split("|")):
        font = "tiit" if k % 2 else "tiro"
        page.insert_text((x, y), part, fontname=font, fontsize=10)
        x += pymupdf.get_text_length(part, font, 10)


def read(*texts: str) -> tuple[pymupdf.Document, list[Line]]:
    document = pymupdf.open()
    page = document.new_page(width=400, height=300)
    for k, text in enumerate(texts):
        put(page, text, 100 + 12 * k)
    return document, read_lines(page, 1)


START = "All of the students know that the law |a| = |b| +"


def test_a_broken_formula_is_in_the_line_where_it_begins() -> None:
    _, lines = read(START, "|c| + |d| holds for gases.")
    assert [line.text for line in lines] == [
        "All of the students know that the law $a=b+c+d$",
        "holds for gases.",
    ]
    assert [len(line.formulas) for line in lines] == [1, 0]
    assert lines[1].box.x0 == pytest.approx(LEFT, abs=0.5)
    assert lines[0].formulas[0].region.boxes[1].y0 > lines[0].box.y1 - 2
    assert paragraphs(lines) == ("All of the students know that the law $a=b+c+d$ holds for gases.")


def test_punctuation_follows_the_formula_and_its_line_vanishes_if_nothing_is_left() -> None:
    _, lines = read(START, "|c| + |d|.", "This is an old result.")
    assert [line.text for line in lines] == [
        "All of the students know that the law $a=b+c+d$.",
        "This is an old result.",
    ]
    assert "\n\n" not in paragraphs(lines)


def test_a_doubtful_broken_formula_is_cropped_as_one_line(tmp_path: Path) -> None:
    document, lines = read(START, "|c| + (|d| holds for gases.")
    (formula,) = lines[0].formulas
    assert formula.doubts
    (row,) = crop_formulas(document, lines, tmp_path, "formulas", 144).values()
    assert row.bbox == tuple(round(edge, 1) for edge in formula.region.box)
    with Image.open(tmp_path / "p001-1.png") as crop:
        width, height = (side / 2 for side in crop.size)
    first, second = formula.region.boxes
    assert width == pytest.approx(first.width + second.width + 8.5, abs=2)
    assert height < 20
