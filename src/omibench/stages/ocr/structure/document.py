"""A PDF as one flow of lines and pictures in reading order, from its text layer or an engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import floor
from typing import TYPE_CHECKING

from glyphtex.marks import Box
from omibench.schemas.pages import PageInk, PageLine, PageText
from omibench.stages.ocr.corrections.entry import INK_UNREAD
from omibench.stages.ocr.engines.textlayer import read_layer
from omibench.stages.ocr.jobs import Allowance
from omibench.stages.ocr.layout.coverage import (
    PageMarkings,
    UnreadInk,
    measure_coverage,
    note_unread,
    read_markings,
)
from omibench.stages.ocr.layout.figures import Typography, find_captions, find_pictures
from omibench.stages.ocr.layout.layout import Item, Line, Picture, get_lines
from omibench.stages.ocr.layout.reading_order import (
    body_size,
    collect_words,
    gutter,
    in_reading_order,
    paragraphs,
    without_furniture,
)
from omibench.stages.ocr.layout.regions import (
    Region,
    find_regions,
    is_searchable_scan,
    regions_of_scan,
    without_logos,
)
from omibench.stages.ocr.layout.scans import PageReader, choose_scale, evenly_set, render_page
from omibench.stages.ocr.sources.files import has_huge_image

if TYPE_CHECKING:
    import pymupdf


MAX_BROKEN = 0.10
MIN_VISIBLE = 30
_BROKEN = re.compile("[\ufffd\ue000-\uf8ff]")
_SCANNED = 0.3


def needs_reading(lines: Sequence[Line], regions: Sequence[Region], sheet: Box) -> bool:
    """Return whether there is no text, broken text, or almost no text with a large image."""
    count = visible(lines)
    if count == 0 or is_broken(lines):
        return True
    if count >= MIN_VISIBLE or find_captions(lines):
        return False
    images = sum(r.box.width * r.box.height for r in regions if r.raster)
    return images > _SCANNED * sheet.width * sheet.height


def visible(lines: Sequence[Line]) -> int:
    """Return the number of visible characters of lines."""
    return sum(len("".join(line.text.split())) for line in lines)


def is_broken(lines: Sequence[Line]) -> bool:
    """Return whether more than a tenth of the characters have no known meaning."""
    broken = sum(len(_BROKEN.findall(line.text)) for line in lines)
    return broken > MAX_BROKEN * max(1, visible(lines))


# A whole PDF as one flow of lines and pictures in reading order.

UNREAD = "page_timeout"
"""The code of a page that was not read in time."""
FAILED = "page_failed"
"""The code of a page on which the reader failed, or that it does not try."""
MAX_LINES = 5_000
"""Maximum number of lines of a page: the time of its layout grows with their square, and a page of
a newspaper has a thousand."""
_COARSE = 100 / 72
"""The resolution, in pixels per point, for finding figures of a page whose text is known."""


@dataclass(slots=True)
class DocumentPage:
    """One page before the paper is assembled."""

    number: int
    width: float = 1.0
    height: float = 1.0
    lines: list[Line] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    text: str = ""
    engine: str = "textlayer"
    """The engine that read it, or `none`."""
    turn: float = 0.0
    """The degrees clockwise by which the page was turned upright; boxes refer to the turned
    page."""
    codes: list[str] = field(default_factory=list)
    is_scan: bool = False
    """Whether it is one picture under text that is not seen."""
    markings: PageMarkings | None = None
    """What the page paints, if it has a text layer."""
    ink_read: float | None = None
    """The share of its marked pixels that were read, if measured."""
    unread: Sequence[UnreadInk] = ()
    """Ink that is in no text, formula or figure."""
    furniture: set[int] = field(default_factory=set)
    """The id(line) of running heads, feet and page numbers."""

    def to_row(self, source: str) -> PageText:
        """Return the row of pages.jsonl."""
        return PageText(
            source=source,
            page=self.number,
            text=self.text,
            engine=self.engine,
            turn=round(self.turn, 2),
            lines=[
                PageLine(
                    text=line.text,
                    bbox=line.box.round(),
                    engine=line.engine,
                    confidence=line.confidence,
                    math_suspect=line.math_suspect or line.stacked,
                    left_out=line.left_out or ("furniture" if id(line) in self.furniture else None),
                    ink_read=_round_down(line.ink_read),
                )
                for line in self.lines
            ],
            ink_read=_round_down(self.ink_read),
            unread=[PageInk(bbox=ink.box.round(), what=ink.what) for ink in self.unread],
        )


def _round_down(share: float | None) -> float | None:
    """Round a share to four digits; what is not whole stays below 1."""
    return None if share is None else floor(share * 10_000) / 10_000


@dataclass(slots=True)
class Document:
    """A paper as read: pages, flow of items, type size and words."""

    pages: list[DocumentPage]
    flow: list[Item]
    size: float
    words: frozenset[str]

    @property
    def codes(self) -> list[str]:
        """The distinct codes of the pages, in order of occurrence."""
        return list(dict.fromkeys(code for page in self.pages for code in page.codes))

    def locate_codes(self) -> dict[str, str]:
        """Return the pages of each code, such as `page 2` or `pages 1, 4-6`.

        Unread ink comes with the lowest share of the ink of a page that was read.
        """
        places = {
            code: _pages([page.number for page in self.pages if code in page.codes])
            for code in self.codes
        }
        shares = [page.ink_read or 0.0 for page in self.pages if INK_UNREAD in page.codes]
        if shares:
            lowest = floor(min(shares) * 1000) / 10
            each = "" if len(shares) == 1 else "at least "
            places[INK_UNREAD] += f" ({each}{lowest} % of the ink was read)"
        return places


def read_document(
    pdf: pymupdf.Document,
    reader: PageReader | None = None,
    *,
    every: bool = False,
    allowance: Allowance | None = None,
    mend: Callable[[pymupdf.Page, DocumentPage], None] | None = None,
) -> Document:
    """Read the lines and the figures of every page.

    Pages without a usable text layer, or `every` page, are read by `reader`; without one, they have
    no items. Neither have pages for which the `allowance` has no time left, which get the code
    `page_timeout`, and pages on which an earlier process failed or with more than `MAX_LINES`,
    which get `page_failed`. `mend` changes each page before its lines are processed.
    """
    sheets = []
    for index in range(pdf.page_count):
        page = pdf[index]
        if allowance is None or allowance.begins(index + 1):
            sheets.append(_sheet(page, index + 1, reader, every))
        else:
            code = FAILED if index + 1 in allowance.failed else UNREAD
            sheets.append(DocumentPage(index + 1, engine="none", codes=[code]))
        if mend:
            mend(page, sheets[-1])
    if allowance:
        allowance.end()
    regions_by_page = without_logos(
        [s.regions for s in sheets], [(s.width, s.height) for s in sheets]
    )
    for sheet, regions in zip(sheets, regions_by_page, strict=True):
        if sheet.markings:
            kept_regions = {id(region) for region in regions}
            sheet.markings.left_out += [r.box for r in sheet.regions if id(r) not in kept_regions]
        sheet.regions = regions
    for sheet, lines in zip(sheets, evenly_set([s.lines for s in sheets]), strict=True):
        sheet.lines = lines
    texts = without_furniture(
        [[line for line in s.lines if line.left_out != "handwriting"] for s in sheets],
        [sheet.height for sheet in sheets],
        [[region.box.grow(10, 10) for region in sheet.regions] for sheet in sheets],
    )
    size = body_size([line for lines in texts for line in lines])
    words = collect_words([line for lines in texts for line in lines])
    flow: list[Item] = []
    for sheet, lines in zip(sheets, texts, strict=True):
        kept_lines = {id(line) for line in lines}
        sheet.furniture = {id(line) for line in sheet.lines if id(line) not in kept_lines}
        items, ordered = _items(sheet, lines, size, pdf)
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


def _sheet(page: pymupdf.Page, number: int, reader: PageReader | None, every: bool) -> DocumentPage:
    if page.rotation:
        page.remove_rotation()
    layer = read_layer(page, number)
    lines = layer.lines
    if len(lines) > MAX_LINES:
        return DocumentPage(number, engine="none", codes=[FAILED])
    sheet = DocumentPage(number, page.rect.width, page.rect.height, lines)
    if layer.exceeds_limits:
        sheet.codes.append("formulas_unread")
    if has_huge_image(page):
        sheet.codes.append("image_too_large")
    else:
        sheet.regions = find_regions(page, lines)
        sheet.is_scan = is_searchable_scan(page)
        if sheet.is_scan:
            sheet.regions = regions_of_scan(render_page(page, _COARSE), lines, _COARSE)
    if every or needs_reading(lines, sheet.regions, Box(*page.rect)):
        sheet.engine = "none"
        is_small = "image_too_large" not in sheet.codes
        if reader and is_small:
            _read(sheet, page, reader)
        elif is_small:
            sheet.codes.append("page_needs_ocr")
    elif not sheet.is_scan and "image_too_large" not in sheet.codes:
        sheet.markings = read_markings(page, layer.words, layer.unread, sheet.regions)
    return sheet


def _read(sheet: DocumentPage, page: pymupdf.Page, reader: PageReader) -> None:
    """Read a page with the reader; non-text regions may be figures."""
    scanned = reader(page, sheet.number)
    sheet.engine, sheet.turn, sheet.lines = scanned.engine, scanned.turn, scanned.lines
    sheet.width, sheet.height = page.rect.width, page.rect.height
    scale = choose_scale(page)
    regions = scanned.regions
    sheet.regions = (
        regions_of_scan(render_page(page, scale), sheet.lines, scale)
        if regions is None
        else regions
    )
    sheet.codes += scanned.codes
    if not sheet.lines and not sheet.regions:
        sheet.codes.append("page_unread")


def _items(
    sheet: DocumentPage, lines: list[Line], size: float, pdf: pymupdf.Document
) -> tuple[list[Item], list[Line]]:
    """Return the items of one page in reading order, and all its lines in reading order."""
    outside = [
        line
        for line in lines
        if line.upright and not any(r.box.holds(line.box) for r in sheet.regions)
    ]
    middle = gutter([line.box for line in outside], sheet.width)
    left = min((line.box.x0 for line in outside), default=0.0)
    right = max((line.box.x1 for line in outside), default=sheet.width)
    width = max(1.0, (right - left) / (1 if middle is None else 2.1))
    pictures, remaining_lines = find_pictures(
        sheet.number, sheet.regions, lines, find_captions(lines), Typography(size, width)
    )
    remaining_lines = _note_unread(sheet, remaining_lines, pictures, pdf)
    items = in_reading_order(
        [*(ln for ln in remaining_lines if not ln.left_out), *pictures], middle
    )
    text_lines = [line for line in lines if not line.left_out]
    ordered = get_lines(in_reading_order(text_lines, middle))
    return items, ordered


def _note_unread(
    sheet: DocumentPage, lines: list[Line], pictures: list[Picture], pdf: pymupdf.Document
) -> list[Line]:
    """Return the lines of a page, with nearby ink that is in no text, formula or figure."""
    if sheet.markings is None:
        return lines
    page = pdf[sheet.number - 1]
    coverage = measure_coverage(page, sheet.markings, sheet.regions, pictures, sheet.lines)
    sheet.ink_read, sheet.unread = coverage.share, coverage.unread
    if not coverage.unread:
        return lines
    sheet.codes.append(INK_UNREAD)
    noted = note_unread(sheet.number, lines, coverage.unread, sheet.markings.ink)
    sheet.lines = [noted.get(id(line), line) for line in sheet.lines]
    return [noted.get(id(line), line) for line in lines]
