"""Pages that wait for a remote engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.stages.ocr.sources.manifest import Source


class Unread(NamedTuple):
    """The pages of one source that no engine has read, and its doubtful formulas.

    `pages` has them by the index of their file in the source. Their `pictures` are in one folder,
    `crops` of formulas in another; the `readings` of both go to a third.
    """

    source: Source
    pictures: Path
    readings: Path
    pages: Mapping[int, Sequence[int]]
    crops: Path | None = None

    def picture(self, place: int, number: int) -> Path:
        """Return the path of the picture of a page."""
        return self.pictures / f"{place}-p{number:04d}.png"


Ahead = Callable[[Unread], None]
"""Requests pages and writes their readings; raises OmibenchError without an answer."""
