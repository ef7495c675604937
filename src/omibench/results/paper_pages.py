"""Pages of papers with the boxes of items, as drawn and read by `ocr`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel

from omibench.errors import OmibenchError
from omibench.files.intake.containment import Container
from omibench.results.page_boxes import find_boxes, scale_box
from omibench.schemas.pages import PagePicture, PageText
from omibench.schemas.problem import BBox, Problem, Question
from omibench.schemas.tables import read_jsonl

TABLE: Final = "page_pictures.jsonl"
Row = TypeVar("Row", bound=BaseModel)


@dataclass(frozen=True)
class PaperPage:
    """A page with an item.

    Attributes:
        number: Page number from 1.
        path: The file of its picture.
        sha256: Hash of its bytes according to `ocr`; the file can have changed since.
        boxes: Boxes of the item's text and figures, (x0, y0, x1, y1) as shares of width and height.
    """

    number: int
    path: Path
    sha256: str
    boxes: tuple[BBox, ...]

    @property
    def label(self) -> str:
        """Label such as `Page 3`."""
        return f"Page {self.number}"


class PaperPages:
    """The pages that `ocr` has drawn. Nothing is read before it is asked for; what cannot be read
    is as if it were not there."""

    def __init__(self, folder: Path) -> None:
        """Prepare the look-up.

        Args:
            folder: The output folder of `ocr`.
        """
        self._folder = folder

    def find_pages(self, question: Question) -> list[PaperPage]:
        """Find the pages of an item, in order.

        Args:
            question: The item; its figures contain their location, and its text is searched as
                read.
        """
        figure_pages = {figure.page for figure in question.images if figure.page is not None}
        numbers = sorted({*question.pages, *figure_pages})
        pages = (self._find_page(question, number) for number in numbers)
        return [page for page in pages if page is not None]

    @cached_property
    def pictures(self) -> dict[tuple[str, int], tuple[PagePicture, Path]]:
        """The pictures of each page, by source and number, with their files."""
        container = Container(self._folder)
        places = {}
        for row in _read_rows(self._folder / TABLE, PagePicture):
            try:
                places[row.source, row.page] = row, container.path(row.file)
            except OmibenchError:  # possibly from other results: no name leads out of the folder
                continue
        return places

    def _find_page(self, question: Question, number: int) -> PaperPage | None:
        place = (question.source or "", number)
        if place not in self.pictures:
            return None
        picture, path = self.pictures[place]
        if not path.is_file():
            return None
        boxes = self._find_boxes(question, number)
        scaled = tuple(scale_box(box, picture.width, picture.height) for box in boxes)
        return PaperPage(number, path, picture.sha256, scaled)

    def _find_boxes(self, question: Question, number: int) -> Iterable[BBox]:
        text = self._texts.get((question.source or "", number))
        problem = self._problems.get(question.id)
        if text is None or problem is None:
            return [f.bbox for f in question.images if f.bbox and f.page == number]
        return find_boxes(problem.model_copy(update={"images": question.images}), text)

    @cached_property
    def _texts(self) -> Mapping[tuple[str, int], PageText]:
        rows = _read_rows(self._folder / "pages.jsonl", PageText)
        return {(row.source, row.page): row for row in rows}

    @cached_property
    def _problems(self) -> Mapping[str, Problem]:
        return {row.id: row for row in _read_rows(self._folder / "problems.jsonl", Problem)}


def _read_rows(path: Path, row: type[Row]) -> list[Row]:
    try:
        return read_jsonl(path, row)
    except OmibenchError:
        return []
