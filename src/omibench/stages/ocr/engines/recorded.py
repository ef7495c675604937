"""Readings that another engine gave beforehand: one JSON file a page.

The process that puts a paper together reaches no network; what mathpix or a model read was asked
for ahead of it and lies in a folder.
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
    """One line as another engine read it, corners in pixels of the picture that it was shown."""

    text: str
    quad: tuple[Corner, Corner, Corner, Corner]
    confidence: float | None = None
    handwritten: bool = False


class ReadPage(BaseModel):
    """What another engine read on one page, whose picture was turned by `turn` before it was read.

    `figures` is None where it does not look for any.
    """

    engine: str
    width: float
    height: float
    lines: list[ReadLine]
    figures: list[tuple[float, float, float, float]] | None = None
    turn: Literal[0, 90, 180, 270] = 0
    """Degrees clockwise; width, height and all boxes are those of the turned picture."""
    incomplete: bool = False
    """Whether its reply lacks the text of a part of the page, or the place of a figure."""


def page_file(folder: Path, file: int, page: int) -> Path:
    """Where the readings of a page of file number `file` of a source lie."""
    return folder / f"{file}-p{page:04d}.json"


class RecordedReader:
    """Gives the readings of a file's pages."""

    def __init__(self, folder: Path, file: int) -> None:
        self.folder, self.file = folder, file

    def read_page(self, page: pymupdf.Page, number: int) -> Scanned:
        """The lines of a page in its own coordinates; none where there are no readings."""
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
