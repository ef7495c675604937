"""Boxes of formulas, from a paper that is set a second time with each formula in its own colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pymupdf
from tests.glyphtex.typeset.make.tex import read_colour


def find_boxes(pdf: Path, count: int) -> dict[int, tuple[int, list[float]]]:
    """Page (from 0) and box of each formula by its number; of the first page that it stands on."""
    return {
        serial: (number, [round(x, 1) for x in _join(mark.printed for mark in marks)])
        for serial, (number, marks) in _list_marks(pdf, count).items()
    }


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


def find_lines(pdf: Path, count: int) -> dict[int, tuple[int, list[list[float]]]]:
    """Page (from 0) and boxes, one a line, of each formula by its number, on its first page.

    A line is a baseline with symbols of the formula's full size.
    """
    marks = _list_marks(pdf, count)
    return {serial: (number, _part_lines(found)) for serial, (number, found) in marks.items()}


class _Mark(NamedTuple):
    """A symbol or a drawing, and its level: the baseline or the middle."""

    box: pymupdf.Rect
    """Of its ink in a line."""
    printed: pymupdf.Rect
    """As PyMuPDF gives it."""
    level: float
    size: float


def _list_marks(pdf: Path, count: int) -> dict[int, tuple[int, list[_Mark]]]:
    """Page and marks of each formula by its number, on its first page."""
    colours = {read_colour(serial): serial for serial in range(1, count + 1)}
    marks: dict[int, tuple[int, list[_Mark]]] = {}
    with pymupdf.open(pdf) as document:
        for number, page in enumerate(document):
            for colour, mark in _list_marks_of_page(page):
                serial = colours.get(colour)
                if serial is not None and marks.setdefault(serial, (number, []))[0] == number:
                    marks[serial][1].append(mark)
    return marks


def _list_marks_of_page(page: pymupdf.Page) -> Iterator[tuple[tuple[int, int, int], _Mark]]:
    for block in page.get_text("rawdict")["blocks"]:
        for line in block.get("lines", []):
            for span in line["spans"]:
                value, size = span["color"], span["size"]
                colour = (value >> 16, value >> 8 & 255, value & 255)
                for char in (c for c in span["chars"] if c["c"].strip()):
                    (_, y), (x0, _, x1, _) = char["origin"], char["bbox"]
                    box = pymupdf.Rect(x0, y - 0.7 * size, x1, y + 0.2 * size)
                    full = 0 if _hangs(span["font"], char["c"]) else size
                    yield colour, _Mark(box, pymupdf.Rect(char["bbox"]), y, full)
    for drawing in page.get_drawings():
        for key in ("color", "fill"):
            if drawing.get(key):
                rect = drawing["rect"]
                level = (rect.y0 + rect.y1) / 2
                yield tuple(round(255 * part) for part in drawing[key]), _Mark(rect, rect, level, 0)


def _hangs(font: str, character: str) -> bool:
    """Whether the origin of a symbol is not on the baseline, as that of TeX's radicals."""
    return "EX" in font or "Extension" in font or character == "√"


def _part_lines(marks: Sequence[_Mark]) -> list[list[float]]:
    full = 0.95 * max(mark.size for mark in marks)
    lines: list[list[_Mark]] = []
    for mark in sorted((m for m in marks if m.size >= full), key=lambda m: m.level):
        if lines and mark.level - lines[-1][-1].level < 0.5 * mark.size:
            lines[-1].append(mark)
        else:
            lines.append([mark])
    boxes = [_join(mark.box for mark in line) for line in lines]
    levels = [line[0].level for line in lines]
    for mark in (m for m in marks if m.size < full):
        x = (mark.box.x0 + mark.box.x1) / 2
        beside = [k for k, box in enumerate(boxes) if box.x0 - 3 < x < box.x1 + 3]
        home = min(beside or range(len(boxes)), key=lambda k: abs(levels[k] - mark.level))
        boxes[home] |= mark.box
    return [[round(x, 1) for x in box] for box in boxes]


def _join(rects: Iterable[pymupdf.Rect]) -> pymupdf.Rect:
    first, *rest = rects
    box = pymupdf.Rect(first)
    for rect in rest:
        box |= rect
    return box
