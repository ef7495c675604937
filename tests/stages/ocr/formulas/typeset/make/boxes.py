"""Boxes of formulas, from a paper that is set a second time with each formula in its own colour."""

from __future__ import annotations

from pathlib import Path

import pymupdf
from tests.stages.ocr.formulas.typeset.make.tex import read_colour


def find_boxes(pdf: Path, count: int) -> dict[int, tuple[int, list[float]]]:
    """Page (from 0) and box of each formula by its number; of the first page that it stands on."""
    colours = {read_colour(serial): serial for serial in range(1, count + 1)}
    boxes: dict[int, tuple[int, pymupdf.Rect]] = {}
    with pymupdf.open(pdf) as document:
        for number, page in enumerate(document):
            for colour, box in _list_marks(page):
                serial = colours.get(colour)
                if serial is None:
                    continue
                first_page, joined = boxes.setdefault(serial, (number, pymupdf.Rect(box)))
                if first_page == number:
                    boxes[serial] = (number, joined | box)
    return {serial: (number, [round(x, 1) for x in box]) for serial, (number, box) in boxes.items()}


def _list_marks(page: pymupdf.Page) -> list[tuple[tuple[int, int, int], pymupdf.Rect]]:
    marks = []
    for block in page.get_text("rawdict")["blocks"]:
        for line in block.get("lines", []):
            for span in line["spans"]:
                value = span["color"]
                colour = (value >> 16, value >> 8 & 255, value & 255)
                marks += [
                    (colour, pymupdf.Rect(char["bbox"]))
                    for char in span["chars"]
                    if char["c"].strip()
                ]
    for drawing in page.get_drawings():
        for key in ("color", "fill"):
            if drawing.get(key):
                marks.append((tuple(round(255 * part) for part in drawing[key]), drawing["rect"]))
    return marks


def check_places(plain: Path, coloured: Path) -> None:
    """Raise ValueError unless each character stands at the same place in both PDFs."""
    with pymupdf.open(plain) as first, pymupdf.open(coloured) as second:
        pages = [[_list_characters(page) for page in document] for document in (first, second)]
    for number, (one, other) in enumerate(zip(*pages, strict=True), 1):
        for mark, twin in zip(one, other, strict=True):
            if mark[0] != twin[0] or abs(mark[1] - twin[1]) > 1 or abs(mark[2] - twin[2]) > 1:
                raise ValueError(f"page {number}: {mark} is {twin} in colour")


def _list_characters(page: pymupdf.Page) -> list[tuple[str, float, float]]:
    blocks = page.get_text("rawdict")["blocks"]
    spans = (s for b in blocks for line in b.get("lines", []) for s in line["spans"])
    origins = ((c["c"], *c["origin"]) for span in spans for c in span["chars"] if c["c"].strip())
    return sorted(origins, key=lambda mark: (mark[0], round(mark[2]), mark[1]))
