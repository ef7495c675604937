"""Figures of a problem: cut from another box, taken from a file, added or taken out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from omibench.errors import OmibenchError
from omibench.files.atomic import write_atomically
from omibench.files.intake import read_picture
from omibench.files.intake.containment import resolve_within
from omibench.schemas.image_marks import write_image_mark
from omibench.schemas.problem import Figure, Problem
from omibench.stages.ocr.corrections.entry import FigureChange
from omibench.stages.ocr.corrections.reading import describe_figure
from omibench.stages.ocr.corrections.structure import MisfitError, select_images, validate
from omibench.stages.ocr.layout.crops import crop_box
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    import pymupdf


class FigureSource(Protocol):
    """Where the picture of a changed figure comes from."""

    def make(self, change: FigureChange, before: Figure | None) -> Figure:
        """The figure that takes the place of another one, or is added."""
        ...


class PaperFigures:
    """Figures cut from the pages of a paper, or copied from files beside the corrections."""

    def __init__(
        self, pdf: pymupdf.Document, pictures: Path, folder: Path, prefix: str, dpi: int
    ) -> None:
        """Take note of places.

        Args:
            pdf: The paper.
            pictures: The folder of `corrections.yaml`.
            folder: Where figures of the paper are written.
            prefix: How the file that names the figures reaches that folder.
            dpi: The resolution of crops.
        """
        self._pdf, self._pictures = pdf, pictures
        self._folder, self._prefix, self._dpi = folder, prefix, dpi

    def make(self, change: FigureChange, before: Figure | None) -> Figure:
        """The figure that takes the place of another one, or is added.

        Raises:
            MisfitError: There is no such page or picture.
        """
        caption = before.caption if before else None
        if change.file is not None:
            return self._copy(change.file, caption)
        page = change.page or (before.page if before else None)
        if page is None or change.box is None or page > self._pdf.page_count:
            raise MisfitError(f"the paper has no page {page or '(name one)'}")
        sheet, box = self._pdf[page - 1], Box(*change.box)
        if not Box(*sheet.rect).touches(box):
            raise MisfitError(f"page {page} ends before the box begins")
        data, bbox = crop_box(sheet, box, self._dpi)
        return self._write(data, "png", caption).model_copy(update={"page": page, "bbox": bbox})

    def _copy(self, name: str, caption: str | None) -> Figure:
        try:
            picture = read_picture(resolve_within(self._pictures, name))
        except OmibenchError as error:
            raise MisfitError(str(error)) from None
        return self._write(picture.data, picture.suffix, caption)

    def _write(self, data: bytes, suffix: str, caption: str | None) -> Figure:
        digest = hashlib.sha256(data).hexdigest()
        name = f"corrected-{digest[:16]}.{suffix}"
        write_atomically(self._folder / name, data)
        return Figure(file=f"{self._prefix}/{name}", sha256=digest, caption=caption)


def describe_image(problem: Problem, change: FigureChange) -> str:
    """Where a figure was read, for `was`; empty for one that is added.

    Raises:
        MisfitError: The problem has fewer figures.
    """
    count = len(problem.images)
    is_new = change.image == count and change.remove is None
    if change.image >= count and not is_new:
        raise MisfitError(f"it has {count} figures: there is no [IMAGE{change.image}]")
    return "" if is_new else describe_figure(problem.images[change.image])


def set_image(problem: Problem, change: FigureChange, source: FigureSource) -> Problem:
    """Set, add or take out one figure of a problem.

    Raises:
        MisfitError: The problem has no such figure, or there is no such page or file.
    """
    describe_image(problem, change)
    images = list(problem.images)
    if change.remove is not None:
        keep = [number for number in range(len(images)) if number != change.image]
        return select_images(problem, keep, problem.question, problem.choices)
    is_new = change.image == len(images)
    figure = source.make(change, None if is_new else images[change.image])
    if is_new:
        mark = write_image_mark(change.image)
        question = f"{problem.question}\n\n{mark}".strip()
        return validate(problem, images=[*images, figure], question=question)
    images[change.image] = figure
    return validate(problem, images=images)
