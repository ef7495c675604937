"""Pages that wait for an engine which is not on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.stages.ocr.sources.manifest import Source


class Unread(NamedTuple):
    """The pages of one source that no engine has read, and its doubtful formulas.

    `pages` holds them by the place of their file in the source. `pictures` of them lie in one
    folder, `crops` of formulas in another, and the `readings` of both are to be written to a third.
    """

    source: Source
    pictures: Path
    readings: Path
    pages: Mapping[int, Sequence[int]]
    crops: Path | None = None

    def picture(self, place: int, number: int) -> Path:
        """Where the picture of a page lies."""
        return self.pictures / f"{place}-p{number:04d}.png"


Ahead = Callable[[Unread], None]
"""Asks for pages and writes what was read; raises OmibenchError where there is no answer."""
