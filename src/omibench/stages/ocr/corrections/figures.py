"""Apply corrections of figures: cut from another box, taken from a file, added or removed."""

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
    """The source of pictures of changed figures."""

    def make(self, change: FigureChange, before: Figure | None) -> Figure:
        """Return the figure that replaces another one, or is added."""
        ...


class PaperFigures:
    """Figures cut from the pages of a paper, or copied from files next to the corrections."""

    def __init__(
        self, pdf: pymupdf.Document, pictures: Path, folder: Path, prefix: str, dpi: int
    ) -> None:
        """Set the files and folders.

        Args:
            pdf: PDF of the paper.
            pictures: Folder of `corrections.yaml`.
            folder: Output folder for figures of the paper.
            prefix: Path of that folder in the file that lists the figures.
            dpi: Resolution of crops.
        """
        self._pdf, self._pictures = pdf, pictures
        self._folder, self._prefix, self._dpi = folder, prefix, dpi

    def make(self, change: FigureChange, before: Figure | None) -> Figure:
        """Return the figure that replaces another one, or is added.

        Raises:
            MisfitError: The page or picture does not exist.
        """
        caption = before.caption if before else None
        if change.file is not None:
            return self._copy(change.file, caption)
        page = change.page or (before.page if before else None)
        if page is None or change.box is None or page > self._pdf.page_count:
            raise MisfitError(f"the paper has no page {page or '(give one)'}")
        sheet, box = self._pdf[page - 1], Box(*change.box)
        if not Box(*sheet.rect).touches(box):
            raise MisfitError(f"page {page} ends before the start of the box")
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
    """Return the box of a figure as read, for `was`; empty for an added one.

    Raises:
        MisfitError: The problem has fewer figures.
    """
    count = len(problem.images)
    is_new = change.image == count and change.remove is None
    if change.image >= count and not is_new:
        raise MisfitError(f"it has {count} figures, without [IMAGE{change.image}]")
    return "" if is_new else describe_figure(problem.images[change.image])


def set_image(problem: Problem, change: FigureChange, source: FigureSource) -> Problem:
    """Set, add or remove one figure of a problem.

    Raises:
        MisfitError: The problem has no such figure, or the page or file does not exist.
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
