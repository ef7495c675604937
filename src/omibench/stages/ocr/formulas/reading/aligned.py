"""Rows that are aligned at their relations, joined into one formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omibench.stages.ocr.formulas.reading.regions import PlacedRegion

_NEXT_ROW = 1.1
"""Maximum gap between the boxes of two rows of one formula, in type sizes."""
_SHORT = 2.0
"""Minimum width before relations that are aligned on purpose, in type sizes."""
LONG = 8.0
"""Width before relations up to which rows may be one formula, in type sizes."""
_CLOSE = 0.75
"""Maximum gap between such rows, in type sizes; separate displays are farther apart."""
_EXACTLY = 0.3
"""Maximum difference between relations that are aligned for certain, in points."""


def join_aligned(places: Sequence[PlacedRegion]) -> list[PlacedRegion]:
    """Join formulas that are alone in adjacent rows and have their relations at one place.

    Args:
        places: Formulas of a page from top to bottom.

    Returns:
        The same, joined ones in the place of the first.
    """
    joined: list[PlacedRegion] = []
    last_rows: list[PlacedRegion] = []
    for place in places:
        for k, above in enumerate(last_rows if place.region.display else ()):
            if is_next_row(above, place, _EXACTLY, _SHORT):
                joined[k] = _join(joined[k], place)
                last_rows[k] = place
                break
        else:
            joined.append(place)
            last_rows.append(place)
    return joined


def is_next_row(
    place: PlacedRegion, below: PlacedRegion, aligned: float, widest: float = LONG
) -> bool:
    """Return whether two formulas in separate rows have aligned relations.

    Args:
        place: The upper formula.
        below: The lower one.
        aligned: Maximum difference between the relations, in points.
        widest: Maximum width before the relations, in type sizes; rows farther apart than lines
            of one formula have less.
    """
    if not (place.region.display and below.region.display):
        return False
    a, b = place.region.box, below.region.box
    if not (-0.5 * place.size < b.y0 - a.y1 < _NEXT_ROW * place.size and b.y0 > a.y0):
        return False
    upper, lower = _find_relation(place), _find_relation(below)
    if upper is None or lower is None or abs(upper - lower) > aligned:
        return False
    if b.y0 - a.y1 > _CLOSE * place.size:
        widest = min(widest, _SHORT)
    return max(upper - a.x0, lower - b.x0) < widest * place.size


def _find_relation(place: PlacedRegion) -> float | None:
    """Return the left edge of the first relation of a formula."""
    places = (k for k in range(place.start, place.end) if place.row.roles[k] == "relation")
    first = next(places, None)
    return None if first is None else place.row.units[first].box.x0


def _join(place: PlacedRegion, below: PlacedRegion) -> PlacedRegion:
    a, b = place.region, below.region
    region = replace(
        a,
        box=a.box.union(b.box),
        glyphs=(*a.glyphs, *b.glyphs),
        bars=tuple(dict.fromkeys((*a.bars, *b.bars))),
        roots=(*a.roots, *b.roots),
        pictures=tuple(dict.fromkeys((*a.pictures, *b.pictures))),
    )
    return place._replace(region=region)
