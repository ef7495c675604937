"""The location of a problem's text on a page, by matching the lines read there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel

from omibench.errors import OmibenchError
from omibench.files.reading import Container
from omibench.schemas.pages import PageLine, PagePicture, PageText
from omibench.schemas.problem import BBox, Problem, Question
from omibench.schemas.tables import read_jsonl

_NO_LETTERS = re.compile(r"[\W_]+")
_SHORTEST = 4
"""Minimum letters and digits of a line that identify its place."""
_LEAST = 16
"""Minimum letters and digits of a block: shorter text can be anywhere."""
_HEAD_WORDS = 4
"""Words that can precede the problem's on a line: its number, a subject."""
_GAP_LINES = 2
"""Lines within a block that can be outside the problem's text: a formula, a mark."""


def find_boxes(problem: Problem, page: PageText) -> list[BBox]:
    """Find the boxes of a problem on a page: its text, block by block, and its figures.

    Args:
        problem: The problem; its original if it was translated.
        page: The page as it was read.

    Returns:
        Boxes (x0, y0, x1, y1) in points from the top left of the upright page; empty if no part of
        the problem is found.
    """
    text = _join_texts(problem)
    lines = [line for line in page.lines if not line.left_out]
    figures = [f.bbox for f in problem.images if f.bbox and f.page == page.page]
    return [*_find_blocks(lines, text), *figures]


def scale_box(box: BBox, width: float, height: float) -> BBox:
    """Return a box in points as shares of its page's width and height, within [0, 1]."""
    x0, y0, x1, y1 = box
    return (
        _clamp(x0 / max(width, 1.0)),
        _clamp(y0 / max(height, 1.0)),
        _clamp(x1 / max(width, 1.0)),
        _clamp(y1 / max(height, 1.0)),
    )


def _clamp(share: float) -> float:
    return round(min(1.0, max(0.0, share)), 4)


def _join_texts(problem: Problem) -> str:
    read = problem if problem.original is None else problem.original
    texts = [read.question, *(choice.text or "" for choice in read.choices or [])]
    return "".join(_squeeze(text) for text in texts)


def _squeeze(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()


def _find_blocks(lines: Iterable[PageLine], text: str) -> Iterator[BBox]:
    block: list[PageLine] = []
    gap: list[PageLine] = []
    for line in lines:
        if _belongs(line, text) and _is_beside(line, block):
            block += [*gap, line]
            gap = []
        elif _belongs(line, text):
            yield from _join(block)
            block, gap = [line], []
        elif block:
            gap.append(line)
            if len(gap) > _GAP_LINES:
                yield from _join(block)
                block, gap = [], []
    yield from _join(block)


def _belongs(line: PageLine, text: str) -> bool:
    words = line.text.split()
    readings = (_squeeze("".join(words[start:])) for start in range(_HEAD_WORDS + 1))
    shortest = max(_SHORTEST, len(_squeeze(line.text)) // 2)
    return any(len(reading) >= shortest and reading in text for reading in readings)


def _is_beside(line: PageLine, block: list[PageLine]) -> bool:
    """Return whether a line continues below a block, not in the next column."""
    return bool(block) and line.bbox[3] > block[-1].bbox[1]


def _join(block: list[PageLine]) -> Iterator[BBox]:
    if sum(len(_squeeze(line.text)) for line in block) < _LEAST:
        return
    boxes = [line.bbox for line in block]
    yield (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


# Pages of papers with the boxes of items, as drawn and read by `ocr`.

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
