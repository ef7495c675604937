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
    """Raise ValueError unless each word stands at the same place in both PDFs."""
    with pymupdf.open(plain) as first, pymupdf.open(coloured) as second:
        words = [[_round_words(page) for page in document] for document in (first, second)]
    for number, (one, other) in enumerate(zip(*words, strict=True), 1):
        if one != other:
            moved = next((a, b) for a, b in zip(one, other, strict=False) if a != b)
            raise ValueError(f"page {number}: {moved[0]} is {moved[1]} in colour")


def _round_words(page: pymupdf.Page) -> list[tuple[int, int, str]]:
    return sorted((round(w[0] / 2), round(w[1] / 2), w[4]) for w in page.get_text("words"))
