"""All doubts about the formulas of a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from omibench.stages.ocr.formulas.doubts.beside import find_beside
from omibench.stages.ocr.formulas.doubts.left import Leftover, find_left
from omibench.stages.ocr.formulas.doubts.neighbours import find_neighbours
from omibench.stages.ocr.formulas.doubts.order import find_torn
from omibench.stages.ocr.formulas.doubts.rows import find_cut
from omibench.stages.ocr.formulas.doubts.rules import UNUSED, find_overlines, find_unused, list_free
from omibench.stages.ocr.formulas.doubts.vanished import VANISHED, doubt_vanished
from omibench.stages.ocr.formulas.glyphs.combining import PaintedGlyph
from omibench.stages.ocr.formulas.marks import PageMarks
from omibench.stages.ocr.formulas.reading.painting import find_lost_bars
from omibench.stages.ocr.formulas.reading.regions import PlacedRegion


class PageDoubts(NamedTuple):
    """Doubts about each formula of a page, and unread symbols that are not near any formula.

    `rest` is mathematics in the text of a line, `vanished` the symbols that the text layer lacks.
    """

    formulas: list[tuple[str, ...]]
    rest: list[Leftover]
    vanished: list[Leftover]


def find_doubts(
    places: Sequence[PlacedRegion], marks: PageMarks, missing: Sequence[PaintedGlyph] = ()
) -> PageDoubts:
    """Find the doubts about the formulas of a page, each once.

    Args:
        places: Formulas of the page.
        marks: Marks that the page paints.
        missing: Glyphs of the page that the text layer lacks.
    """
    pieces = [(number, line) for number, place in enumerate(places) for line in place.region.lines]
    regions = [line for _, line in pieces]
    doubts: defaultdict[int, dict[str, None]] = defaultdict(dict)

    def add(found: Iterable[tuple[int, str]]) -> None:
        for number, doubt in found:
            doubts[number].setdefault(doubt)

    def add_of_lines(found: Iterable[tuple[int, str]]) -> None:
        add((pieces[k][0], doubt) for k, doubt in found)

    left = find_left(regions, marks.glyphs)
    add_of_lines(find_torn(regions, marks.glyphs))
    add_of_lines(find_unused(regions, marks))
    add_of_lines((number, UNUSED) for number in find_lost_bars(regions, marks))
    add(find_cut(places))
    add_of_lines(find_neighbours(regions, marks.glyphs))
    add_of_lines(left.doubts)
    owned = {id(glyph) for region in regions for glyph in region.glyphs}
    free = [glyph for glyph in marks.glyphs if id(glyph) not in owned]
    rest = [*left.rest, *find_overlines(list_free(regions, marks), free)]
    vanished: list[Leftover] = []
    for near, leftover in doubt_vanished(regions, missing):
        if near is None:
            vanished.append(leftover)
        else:
            add_of_lines([(near, VANISHED)])
    numbers = sorted(range(len(places)), key=lambda k: (id(places[k].row), places[k].start))
    for _, group in groupby(numbers, key=lambda k: id(places[k].row)):
        members = list(group)
        intervals = [(places[k].start, places[k].end) for k in members]
        add((members[n], doubt) for n, doubt in find_beside(places[members[0]].row, intervals))
    return PageDoubts([tuple(doubts[number]) for number in range(len(places))], rest, vanished)
