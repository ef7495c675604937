"""A whole PDF as one flow of lines and pictures in reading order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omibench.ocr.captions import captions_of
from omibench.ocr.check import has_huge_image
from omibench.ocr.columns import gutter, in_reading_order
from omibench.ocr.figures import pictures_of
from omibench.ocr.furniture import body_size, without_furniture
from omibench.ocr.labels import Setting
from omibench.ocr.layout import Box, Item, Line
from omibench.ocr.marks import Region, regions_of
from omibench.ocr.pages import is_broken, read_lines, visible
from omibench.ocr.text import paragraphs, words_of

if TYPE_CHECKING:
    import pymupdf

MIN_VISIBLE = 30
_SCANNED = 0.3
_LOGO_PAGES = 3


@dataclass(slots=True)
class Sheet:
    """One page before the paper is put together."""

    number: int
    width: float
    height: float
    lines: list[Line]
    regions: list[Region]
    text: str = ""
    engine: str = "textlayer"
    codes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Document:
    """A paper as read: its pages, the flow of its items, its type size and its words."""

    pages: list[Sheet]
    flow: list[Item]
    size: float
    words: frozenset[str]

    @property
    def codes(self) -> list[str]:
        """Codes of the pages, each once, in the order met."""
        return list(dict.fromkeys(code for page in self.pages for code in page.codes))

    def where(self) -> dict[str, str]:
        """The pages of each code, such as `page 2` or `pages 1, 4-6`."""
        return {
            code: _pages([page.number for page in self.pages if code in page.codes])
            for code in self.codes
        }


def read_document(pdf: pymupdf.Document) -> Document:
    """Read the text layer and the figures of every page."""
    sheets = [_sheet(pdf[index], index + 1) for index in range(pdf.page_count)]
    _drop_logos(sheets)
    texts = without_furniture(
        [sheet.lines for sheet in sheets],
        [sheet.height for sheet in sheets],
        [[region.box.grown(10, 10) for region in sheet.regions] for sheet in sheets],
    )
    size = body_size([line for lines in texts for line in lines])
    words = words_of([line for lines in texts for line in lines])
    flow: list[Item] = []
    for sheet, lines in zip(sheets, texts, strict=True):
        items, ordered = _items(sheet, lines, size)
        sheet.text = paragraphs(ordered, words)
        if sheet.engine != "none":
            flow += items
    return Document(sheets, flow, size, words)


def _pages(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    spans = [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return f"{'page' if len(numbers) == 1 else 'pages'} {', '.join(spans)}"


def _sheet(page: pymupdf.Page, number: int) -> Sheet:
    if page.rotation:
        page.remove_rotation()
    lines = read_lines(page, number)
    sheet = Sheet(number, page.rect.width, page.rect.height, lines, [])
    if has_huge_image(page):
        sheet.codes.append("image_too_large")
    else:
        sheet.regions = regions_of(page, lines)
    if _needs_ocr(sheet):
        sheet.engine = "none"
        if not sheet.codes:
            sheet.codes.append("page_needs_ocr")
    return sheet


def _needs_ocr(sheet: Sheet) -> bool:
    """No text, broken text, or next to no text beside an image that covers much of the page."""
    count = visible(sheet.lines)
    if count == 0 or is_broken(sheet.lines):
        return True
    if count >= MIN_VISIBLE or captions_of(sheet.lines):
        return False
    images = sum(r.box.width * r.box.height for r in sheet.regions if r.raster)
    return images > _SCANNED * sheet.width * sheet.height


def _drop_logos(sheets: Sequence[Sheet]) -> None:
    """Leave out what is drawn at the same place on three or more pages, and repeated images."""
    images: Counter[tuple[int, ...] | None] = Counter()
    places: Counter[tuple[int, ...]] = Counter()
    for sheet in sheets:
        images.update({r.image for r in sheet.regions if r.image})
        places.update({_place(r.box) for r in sheet.regions})
    for sheet in sheets:
        sheet.regions = [
            r
            for r in sheet.regions
            if images[r.image] < _LOGO_PAGES and places[_place(r.box)] < _LOGO_PAGES
        ]


def _place(box: Box) -> tuple[int, ...]:
    return tuple(round(value / 2) for value in box)


def _items(sheet: Sheet, lines: list[Line], size: float) -> tuple[list[Item], list[Line]]:
    """The items of one page in reading order, and all its lines in reading order."""
    outside = [
        line
        for line in lines
        if line.upright and not any(r.box.holds(line.box) for r in sheet.regions)
    ]
    middle = gutter([line.box for line in outside], sheet.width)
    left = min((line.box.x0 for line in outside), default=0.0)
    right = max((line.box.x1 for line in outside), default=sheet.width)
    width = max(1.0, (right - left) / (1 if middle is None else 2.1))
    pictures, rest = pictures_of(
        sheet.number, sheet.regions, lines, captions_of(lines), Setting(size, width)
    )
    items = in_reading_order([*rest, *pictures], middle)
    ordered = [i for i in in_reading_order(lines, middle) if isinstance(i, Line)]
    return items, ordered
