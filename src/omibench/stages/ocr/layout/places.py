"""The positions of each problem's parts on the pages, and page pictures, for inspection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from glyphtex.marks import Box
from omibench.schemas.problem import BBox, FrozenModel
from omibench.stages.ocr.layout.layout import Item, Picture
from omibench.stages.ocr.layout.scans import draw_jpeg
from omibench.stages.ocr.structure.document import Document
from omibench.stages.ocr.structure.drafts import Draft, Paper

if TYPE_CHECKING:
    import pymupdf

Part = Literal["stem", "statement", "choice", "solution", "figure", "answers", "other", "drawing"]
DPI = 100
QUALITY = 60
MAX_PAGES = 60
"""The number of pages above which pictures get coarser, to keep the inspection page below 20 MB."""
_MAX_SIDE = 1500
_SMALL = 150.0


class Place(FrozenModel):
    """A box on a page and its kind; `answers` is the section of answers at the end.

    `other` is text outside of problems, `drawing` a drawing that is not a problem's figure.

    `label` is the letter of a choice, the mark of a figure, or the range of a stem.
    """

    page: int
    part: Part
    bbox: BBox
    problem: str | None = None
    label: str = ""


class Sheet(FrozenModel):
    """A page on the inspection page; `picture` is a file next to this one, or None."""

    page: int
    width: float
    height: float
    codes: list[str] = []
    picture: str | None = None


class Layout(FrozenModel):
    """Further inputs of an inspection page besides problems and lines."""

    sheets: list[Sheet]
    places: list[Place]


def find_places(document: Document, paper: Paper) -> list[Place]:
    """Return every part of every problem, followed by the remaining parts."""
    places = [place for draft in paper.drafts for place in _list_draft_places(draft)]
    places = list({(p.page, p.part, p.bbox): p for p in reversed(places)}.values())[::-1]
    placed_items = {(i.page, i.box) for d in paper.drafts for i in _items(d)}
    answers = {(i.page, i.box) for i in paper.answers}
    for free, run in groupby(document.flow, key=lambda i: (i.page, i.box) not in placed_items):
        unplaced = list(run) if free else []
        lines = [i for i in unplaced if not isinstance(i, Picture)]
        for named, part in groupby(lines, key=lambda i: (i.page, i.box) in answers):
            places += [
                _place(page, "answers" if named else "other", box) for page, box in _blocks(part)
            ]
        places += [_place(i.page, "drawing", i.box) for i in unplaced if isinstance(i, Picture)]
    pictures = [i for i in document.flow if isinstance(i, Picture)]
    for sheet in document.pages:
        for region in sheet.regions:
            inside = any(p.page == sheet.number and p.box.touches(region.box) for p in pictures)
            if not inside and region.box.width * region.box.height > _SMALL:
                places.append(_place(sheet.number, "drawing", region.box))
    return places


def write_layout(
    pdf: pymupdf.Document, document: Document, places: Sequence[Place], folder: Path
) -> None:
    """Write `layout.json` and a picture of each page, `p0001.jpg`, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    dpi = (
        DPI
        if len(document.pages) <= MAX_PAGES
        else max(50, DPI * (MAX_PAGES / len(document.pages)) ** 0.5)
    )
    sheets = []
    for sheet in document.pages:
        name = f"p{sheet.number:04d}.jpg"
        page = pdf[sheet.number - 1]
        # Pages too large to be read are too large to be shown.
        is_drawn = "image_too_large" not in sheet.codes
        if is_drawn:
            (folder / name).write_bytes(draw_jpeg(page, dpi, _MAX_SIDE, QUALITY))
        sheets.append(
            Sheet(
                page=sheet.number,
                width=page.rect.width,
                height=page.rect.height,
                codes=sheet.codes,
                picture=name if is_drawn else None,
            )
        )
    text = Layout(sheets=sheets, places=list(places)).model_dump_json()
    (folder / "layout.json").write_text(text, "utf-8")


def _list_draft_places(draft: Draft) -> Iterator[Place]:
    number = draft.number
    if draft.stem:
        for page, box in _blocks(draft.stem.items):
            yield _place(page, "stem", box, number, draft.stem.name)
    for page, box in _blocks(draft.items):
        yield _place(page, "statement", box, number)
    for option in draft.options:
        lines = [*([option.marker] if option.marker else []), *option.lines]
        for page, box in _blocks(lines):
            yield _place(page, "choice", box, number, option.letter)
    for page, box in _blocks(draft.solution):
        yield _place(page, "solution", box, number)
    letters = {id(o.picture): f" ({o.letter})" for o in draft.options if o.picture}
    for k, picture in enumerate(draft.pictures):
        label = f"IMAGE{k}{letters.get(id(picture), '')}"
        yield _place(picture.page, "figure", picture.box, number, label)


def _items(draft: Draft) -> Iterator[Item]:
    yield from draft.statement
    yield from draft.solution
    for option in draft.options:
        yield from option.lines
        yield from [part for part in (option.marker, option.picture) if part]


def _blocks(items: Iterable[Item]) -> Iterator[tuple[int, Box]]:
    """Return the boxes around items in reading order, one per page and column."""
    page, block_box = 0, Box(0, 0, 0, 0)
    for item in items:
        if item.page == page and item.box.y1 > block_box.y0 and item.box.gap_x(block_box) < 24:
            block_box = block_box.union(item.box)
            continue
        if page:
            yield page, block_box
        page, block_box = item.page, item.box
    if page:
        yield page, block_box


def _place(page: int, part: Part, box: Box, problem: str | None = None, label: str = "") -> Place:
    return Place(page=page, part=part, bbox=box.round(), problem=problem, label=label)
