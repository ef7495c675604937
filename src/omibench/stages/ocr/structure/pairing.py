"""Pair letters and pictures of choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from omibench.stages.ocr.layout.layout import Line, Picture

MIN_CHOICES = 3


@dataclass(slots=True)
class Option:
    """One choice on the page."""

    letter: str
    lines: list[Line] = field(default_factory=list)
    picture: Picture | None = None
    correct: bool = False
    marker: Line | None = None

    @property
    def is_bare(self) -> bool:
        return not any(line.text for line in self.lines)


def pair_pictures(options: Sequence[Option], pictures: Sequence[Picture]) -> list[Picture]:
    """Assign a picture to every bare choice; return the assigned pictures.

    Letters are above, below or left of their pictures, the same way for all. The direction with the
    smallest total distance is used.
    """
    bare = [o for o in options if o.is_bare and o.marker is not None]
    if len(bare) < MIN_CHOICES or len(pictures) < len(bare):
        return []
    best: tuple[float, list[Picture]] | None = None
    for place in ("above", "below", "left"):
        total, assignment = _assign(bare, pictures, place)
        if best is None or total < best[0]:
            best = (total, assignment)
    assignment = best[1] if best else []
    for option, picture in zip(bare, assignment, strict=True):
        option.picture = picture
    return assignment


def _assign(
    options: Sequence[Option], pictures: Sequence[Picture], place: str
) -> tuple[float, list[Picture]]:
    """Pair letters and pictures, nearest pairs first; returns the total distance."""
    pairs = sorted(
        (_distance(option, picture, place), i, j)
        for i, option in enumerate(options)
        for j, picture in enumerate(pictures)
    )
    chosen: dict[int, int] = {}
    total = 0.0
    for distance, i, j in pairs:
        if i not in chosen and j not in chosen.values():
            chosen[i] = j
            total += distance
    return total, [pictures[chosen[i]] for i in range(len(options))]


def _distance(option: Option, picture: Picture, place: str) -> float:
    marker = option.marker
    if marker is None or marker.page != picture.page:
        return 5000.0
    letter, box = marker.box, picture.box
    x, y = letter.centre
    aside = min(abs(x - box.centre[0]), abs(letter.x0 - box.x0))
    if place == "above":
        return abs(box.y0 - letter.y1) + aside
    if place == "below":
        return abs(letter.y0 - box.y1) + aside
    return abs(box.x0 - letter.x1) + min(abs(y - box.centre[1]), abs(letter.y0 - box.y0))
