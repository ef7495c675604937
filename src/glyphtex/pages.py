"""Front of the reader: a page of a PDF, its text layer and its formulas."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from glyphtex.drawings import find_frames
from glyphtex.marks import Formula
from glyphtex.page_formulas import PageFormulas, read_formulas
from glyphtex.page_marks import find_marks
from glyphtex.text_layer import TextRun, read_characters

if TYPE_CHECKING:
    import pymupdf


_MOST_NAMED = 12
"""Maximum number of symbols that a message lists."""


class TextLayer(NamedTuple):
    """The lines of a page's text layer, and the formulas in them."""

    runs: Sequence[TextRun]
    formulas: PageFormulas


class PageReading(NamedTuple):
    """The formulas of a page from top to bottom.

    `is_partial` is whether the page has more characters, lines or drawings than are searched:
    formulas may be missing. `unread` are messages about mathematics outside of all formulas.
    """

    formulas: list[Formula]
    is_partial: bool
    unread: list[str]


def read_page(page: pymupdf.Page) -> list[Formula]:
    """Read the formulas of a page as LaTeX.

    Args:
        page: A page of a PDF with a text layer; a rotated one is turned upright, which changes it.

    Returns:
        The formulas from top to bottom, each with `latex` (without dollar signs), `box` (x0, y0,
        x1, y1 in points from the top left corner, y downwards), `boxes` (one per line, if it is
        broken over lines) and `doubts` (why the reading may be wrong; empty if it is certain).
    """
    return search_page(page).formulas


def search_page(page: pymupdf.Page) -> PageReading:
    """Read the formulas of a page, and what of its mathematics was not read; see `read_page`."""
    if page.rotation:
        page.remove_rotation()
    with pause_collection():
        found = read_text_layer(page).formulas
    unread = [
        f"{message}: {' '.join(ink.text for ink in inks[:_MOST_NAMED])}"
        for message, inks in (
            ("mathematics in no formula", found.rest),
            ("glyphs that the text layer lacks", found.vanished),
        )
        if inks
    ]
    formulas = sorted((placed.formula for placed in found.formulas), key=lambda f: f.box[1::-1])
    return PageReading(formulas, found.is_partial, unread)


def read_text_layer(page: pymupdf.Page) -> TextLayer:
    """Read the text layer of a page whose rotation is removed, and the formulas in it."""
    drawings = page.get_cdrawings()
    frames = find_frames(page)
    runs, painted = read_characters(page, [*find_marks(drawings, page.rect.width), *frames])
    return TextLayer(runs, read_formulas(page, runs, painted, drawings, frames))


@contextmanager
def pause_collection() -> Iterator[None]:
    """Pause the search for reference cycles.

    A page is read into hundreds of thousands of small objects without cycles, which all live until
    its end. Searching them for cycles takes a fifth of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
