"""Doubts from formulas in separate rows that may be rows of one formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.stages.ocr.formulas.doubts.beside import BEGINS
from omibench.stages.ocr.formulas.reading.aligned import is_next_row
from omibench.stages.ocr.formulas.reading.regions import PlacedRegion
from omibench.stages.ocr.formulas.reading.words import STATES

ROWS = "a formula in the next row may be part of it"
_ALIGNED = 1.0
"""Maximum difference between aligned relations, in points."""


def find_cut(places: Sequence[PlacedRegion]) -> Iterator[tuple[int, str]]:
    """Yield the formulas that begin with a relation, a modulus or a state of matter, and those in
    directly adjacent rows."""
    for number, place in enumerate(places):
        row, start = place.row, place.start
        is_later_part = row.roles[start] == "relation" or row.is_modulus(start)
        if is_later_part and place.end - start > 1:
            yield number, BEGINS
        if row.sign(start) == "(" and _begins_with_state(place):
            yield number, BEGINS
    for number, place in enumerate(places):
        for other, below in enumerate(places):
            if number != other and is_next_row(place, below, _ALIGNED):
                yield number, ROWS
                yield other, ROWS


def _begins_with_state(place: PlacedRegion) -> bool:
    """Return whether a formula begins with the state of matter of the one before it, as `(aq)`."""
    start, end = place.row.words[place.start + 1] if place.end - place.start > 1 else (0, 0)
    is_closed = end < place.end and place.row.roles[end] == "close"
    return is_closed and place.row.text(start, end) in STATES and not place.region.following
