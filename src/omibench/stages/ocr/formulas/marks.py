"""Marks printed on a page: glyphs, rules, drawn roots and small pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from omibench.stages.ocr.layout.layout import Box

Kind = Literal[
    "letter", "digit", "operator", "relation", "arrow", "punctuation", "open", "close", "large",
    "root", "accent", "prime", "piece", "space", "unknown",
]  # fmt: skip
"""Role of a symbol in a formula. `large`: a sum, product, integral or the like, which can have
limits above and below it; `piece`: a part of a bracket, brace or root sign assembled from several
glyphs; `unknown`: a glyph that no table identifies.
"""


@dataclass(frozen=True, slots=True)
class GlyphSymbol:
    """Meaning of a glyph, regardless of its font.

    `ascent` and `descent` are in type sizes from the origin of the glyph, upwards and downwards, if
    the font's box is known to be false; else None.
    """

    latex: str
    """`x`, `7`, `+`, `\\alpha`, `\\mathbb{R}`, `(`, `\\sum`; for an accent its command, `\\hat`."""
    kind: Kind
    ascent: float | None = None
    descent: float | None = None
    upright: bool = False
    """Whether it is an upright roman letter, as in words, function names and units; False for
    variables.
    """


@dataclass(slots=True, unsafe_hash=True)
class Glyph:
    """Printed character, its position and its meaning.

    `x` and `y` are its origin on the baseline; `box` is the extent of its ink, corrected by the
    symbol's ascent and descent. Lengths are in points; y grows downwards.
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


@dataclass(frozen=True, slots=True)
class Formula:
    """LaTeX of a region, without dollar signs, and the doubts about it.

    `doubts` is empty if the reading is certain. Each is a short message such as
    `a glyph of font F1 is unknown` or `a mark could not be placed in the formula`.
    """

    region: FormulaRegion
    latex: str
    doubts: tuple[str, ...] = ()
