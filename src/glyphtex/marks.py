"""Marks printed on a page: glyphs, rules, drawn roots and small pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from glyphtex.boxes import Box, unite

Kind = Literal[
    "letter", "digit", "operator", "relation", "arrow", "punctuation", "open", "close", "large",
    "root", "accent", "prime", "piece", "space", "unknown",
]  # fmt: skip
"""Role of a symbol in a formula. `large`: a sum, product, integral or the like, which can have
limits above and below it; `piece`: a part of a bracket, brace or root sign assembled from several
glyphs; `unknown`: a glyph that no table identifies.
"""

SEQUENCE = 10_000
"""Serial numbers between two consecutively painted objects."""
_INNER = 1.0
"""Maximum margin in points at a line break: the parts of a formula are about 2.5 points apart."""


@dataclass(frozen=True, slots=True)
class GlyphSymbol:
    """Meaning of a glyph, regardless of its font."""

    latex: str
    """`x`, `7`, `+`, `\\alpha`, `\\mathbb{R}`, `(`, `\\sum`; for an accent its command, `\\hat`."""
    kind: Kind
    upright: bool = False
    """Whether it is an upright roman letter, as in words, function names and units; False for
    variables.
    """


@dataclass(slots=True, unsafe_hash=True)
class Glyph:
    """Printed character, its position and its meaning.

    `x` and `y` are its origin on the baseline; `box` is the extent of its ink. Lengths are in
    points; y grows downwards.
    """

    serial: int
    """Its place in the painting order."""
    text: str
    """Unicode character according to the PDF, U+FFFD if it gives none."""
    symbol: GlyphSymbol
    font: str
    """Name without the subset prefix, such as `CMMI10`."""
    size: float
    x: float
    y: float
    box: Box
    italic: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """Horizontal rule: of a fraction, a root, an over- or underline, or of a table or blank."""

    serial: int
    x0: float
    x1: float
    y: float
    """Its middle."""
    thickness: float

    @property
    def box(self) -> Box:
        """Its extent without its thickness."""
        return Box(self.x0, self.y, self.x1, self.y)


@dataclass(frozen=True, slots=True)
class RootSign:
    """Radical sign drawn as a path, with or without its bar."""

    serial: int
    box: Box


@dataclass(frozen=True, slots=True)
class SmallPicture:
    """Image or drawing as tall as a line, such as a formula that an editor exported as one."""

    serial: int
    box: Box


@dataclass(frozen=True, slots=True)
class PageMarks:
    """Marks of a page that formulas can consist of."""

    width: float
    height: float
    glyphs: tuple[Glyph, ...]
    bars: tuple[Rule, ...] = ()
    roots: tuple[RootSign, ...] = ()
    pictures: tuple[SmallPicture, ...] = ()
    frames: tuple[Box, ...] = ()
    """Frames of embedded objects, which can be formulas."""


@dataclass(frozen=True, slots=True)
class FormulaRegion:
    """Marks of one formula; `display` if it is in separate rows.

    `is_object` if it is embedded in the document, so that its extent is certain.
    """

    box: Box
    glyphs: tuple[Glyph, ...]
    bars: tuple[Rule, ...] = ()
    roots: tuple[RootSign, ...] = ()
    pictures: tuple[SmallPicture, ...] = ()
    display: bool = False
    is_object: bool = False
    following: tuple[NextLine, ...] = ()
    """Its parts in the next lines, if it is broken; all other fields are of the first line."""

    @property
    def lines(self) -> tuple[FormulaRegion, ...]:
        """Its part in each line."""
        return (self, *(part.region for part in self.following))

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Box of its part in each line."""
        return tuple(part.box for part in self.lines)


@dataclass(frozen=True, slots=True)
class NextLine:
    """Part of a broken formula in a line after its first.

    Moved by `dx` and `dy`, in points, it continues the first line on its baseline.
    """

    region: FormulaRegion
    dx: float
    dy: float


@dataclass(frozen=True, slots=True)
class Formula:
    """LaTeX of a region, without dollar signs, and the doubts about it.

    `doubts` is empty if the reading is certain. Each is a short message such as
    `a glyph of font F1 is unknown` or `a mark could not be placed in the formula`.
    """

    region: FormulaRegion
    latex: str
    doubts: tuple[str, ...] = ()

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Box of its part in each line."""
        return self.region.boxes

    @property
    def box(self) -> Box:
        """The smallest box around all its parts."""
        return unite(self.boxes)


class ShiftedBox(NamedTuple):
    """Box on a page, and the distances in points by which its content is moved."""

    box: Box
    dx: float
    dy: float


def list_shifted(region: FormulaRegion, margin: float) -> list[ShiftedBox]:
    """Return the boxes of a formula's lines with the moves that put them into one line.

    Args:
        region: Formula, possibly broken.
        margin: Margin around the whole formula, in points; between its parts it is smaller.
    """
    moves = [(region, 0.0, 0.0), *((part.region, part.dx, part.dy) for part in region.following)]
    inner, last = min(margin, _INNER), len(moves) - 1
    shifted = []
    for k, (line, dx, dy) in enumerate(moves):
        box = line.box.grow(0, margin)
        left, right = margin if k == 0 else inner, margin if k == last else inner
        shifted.append(ShiftedBox(box._replace(x0=box.x0 - left, x1=box.x1 + right), dx, dy))
    return shifted
