"""The contents of a page: lines of text and pictures, in PDF points from its top left corner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from glyphtex.marks import Box

if TYPE_CHECKING:
    from glyphtex.marks import Formula


PERSON = "person"
"""The engine of a line written by a person."""


@dataclass(frozen=True, slots=True)
class Line:
    """One run of text on one baseline.

    `indent` is the distance of its left edge from that of its column, and `starts` is whether it is
    the leftmost in its row; both are set with the reading order.
    """

    page: int
    box: Box
    text: str
    size: float
    bold: bool = False
    baseline: float = 0.0
    upright: bool = True
    indent: float = 0.0
    starts: bool = True
    stacked: bool = False
    """Whether it is part of a formula that spans several rows."""
    engine: str = "textlayer"
    confidence: float | None = None
    """The confidence of its engine, in [0, 1]; None for text of the PDF itself."""
    math_suspect: bool = False
    """Whether it has a formula that its engine flattened: scripts, fractions and roots are lost."""
    reasons: tuple[str, ...] = ()
    """The reasons for `math_suspect`, if known, each with page and box."""
    unread: tuple[str, ...] = ()
    """Ink next to it that is in no text, formula or figure, each with page and box."""
    ink_read: float | None = None
    """The share of its ink, and of unread ink next to it, that was read; None without any."""
    running: bool = False
    """Whether it is known to be running text, however short."""
    formulas: tuple[Formula, ...] = ()
    """The formulas in its text between dollar signs, in order."""
    left_out: str | None = None
    """The reason why it is not part of the page's text: `handwriting` or `label`."""
    differences: tuple[str, ...] = ()
    """Formulas on which two readers differ, with page and box."""


class PanelBox(NamedTuple):
    """A part of a figure under the figure's caption, with its letter if any."""

    box: Box
    label: str | None = None


@dataclass(slots=True)
class Picture:
    """One figure on a page, with its caption."""

    page: int
    box: Box
    caption: str | None = None
    number: str | None = None
    """The figure number in its caption."""
    panels: tuple[PanelBox, ...] = ()


Item = Line | Picture


def get_lines(items: Iterable[Item]) -> list[Line]:
    """Return the lines among items."""
    return [item for item in items if isinstance(item, Line)]


def get_text(items: Iterable[Item]) -> str:
    """Return the text of the lines among items, with spaces between them."""
    return " ".join(line.text for line in get_lines(items))
