"""Stored readings of another engine: one JSON file per page.

The process that reads a paper has no network access. Readings of mathpix or a model are requested
before it and stored in a folder.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from omibench.schemas.tables import read_json
from omibench.stages.ocr.engines.engine import Reading
from omibench.stages.ocr.layout.layout import Box
from omibench.stages.ocr.layout.marks import Region
from omibench.stages.ocr.layout.scans import Scanned, build_lines

if TYPE_CHECKING:
    import pymupdf

Corner = tuple[float, float]


class ReadLine(BaseModel):
    """One line read by another engine, with corners in pixels of its picture."""

    text: str
    quad: tuple[Corner, Corner, Corner, Corner]
    confidence: float | None = None
    handwritten: bool = False


class ReadPage(BaseModel):
    """The reading of one page by another engine, whose picture was turned by `turn`.

    `figures` is None if the engine does not detect them.
    """

    engine: str
    width: float
    height: float
    lines: list[ReadLine]
    figures: list[tuple[float, float, float, float]] | None = None
    turn: Literal[0, 90, 180, 270] = 0
    """Degrees clockwise; width, height and all boxes refer to the turned picture."""
    incomplete: bool = False
    """Whether the reply lacks the text of a part of the page, or the position of a figure."""


def page_file(folder: Path, file: int, page: int) -> Path:
    """Return the path of the readings of a page of file number `file` of a source."""
    return folder / f"{file}-p{page:04d}.json"


class RecordedReader:
    """Returns the readings of a file's pages."""

    def __init__(self, folder: Path, file: int) -> None:
        self.folder, self.file = folder, file

    def read_page(self, page: pymupdf.Page, number: int) -> Scanned:
        """Return the lines of a page in its own coordinates; empty without readings."""
        path = page_file(self.folder, self.file, number)
        if not path.is_file():
            return Scanned([], "none", regions=[])
        read = read_json(path, ReadPage)
        if read.turn:
            page.set_rotation(read.turn)
            page.remove_rotation()
        scale = page.rect.width / max(read.width, 1.0)
        codes = ("page_incomplete",) if read.incomplete else ()
        readings = [Reading(r.text, r.quad, r.confidence, whole=True) for r in read.lines]
        marks = ["handwriting" if line.handwritten else None for line in read.lines]
        lines = [
            replace(line, left_out=mark)
            for line, mark in zip(
                build_lines(readings, number, scale, read.engine), marks, strict=True
            )
        ]
        turn = float(read.turn)
        if read.figures is None:
            return Scanned(lines, read.engine, turn, codes=codes)
        boxes = [Box(*(value * scale for value in figure)) for figure in read.figures]
        regions = [Region(box, raster=True) for box in boxes]
        return Scanned(lines, read.engine, turn, regions, codes)
