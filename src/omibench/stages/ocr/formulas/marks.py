"""What is printed on a page, mark by mark: glyphs, rules, drawn roots and small pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from omibench.stages.ocr.layout.layout import Box

Kind = Literal[
    "letter", "digit", "operator", "relation", "arrow", "punctuation", "open", "close", "large",
    "root", "accent", "prime", "piece", "space", "unknown",
]  # fmt: skip
"""What a symbol is in a formula. `large`: a sum, product, integral or the like, whose limits may
stand above and below it; `piece`: a part of a bracket, brace or root sign that is put together
from several glyphs; `unknown`: a glyph that no table names."""


@dataclass(frozen=True, slots=True)
class GlyphSymbol:
    """What a glyph means, whatever font it was set in.

    `ascent` and `descent` are in units of the type size from the origin of the glyph, upwards and
    downwards, where the font's own box is known to be false; else None.
    """

    latex: str
    """`x`, `7`, `+`, `\\alpha`, `\\mathbb{R}`, `(`, `\\sum`; for an accent its command, `\\hat`."""
    kind: Kind
    ascent: float | None = None
    descent: float | None = None
    upright: bool = False
    """A letter of a roman alphabet, as words, names of functions and units are set in; variables
    are not, whatever their shape."""


@dataclass(frozen=True, slots=True)
class Glyph:
    """One printed character, where it stands, and what it means.

    `x` and `y` are its origin on the baseline; `box` is where its ink may be, corrected by the
    symbol's ascent and descent. Lengths are in points; y grows downwards.
    """

    serial: int
    """Its place in the order in which the page paints."""
    text: str
    """What the PDF says that it is: one Unicode character, U+FFFD where it says nothing."""
    symbol: GlyphSymbol
    font: str
    """Name without the subset's prefix, such as `CMMI10`."""
    size: float
    x: float
    y: float
    box: Box
    italic: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal rule: of a fraction, a root, an over- or underline, or of a table or blank."""

    serial: int
    x0: float
    x1: float
    y: float
    """Its middle."""
    thickness: float


@dataclass(frozen=True, slots=True)
class RootSign:
    """A radical sign that is drawn as a path, with or without its bar."""

    serial: int
    box: Box


@dataclass(frozen=True, slots=True)
class SmallPicture:
    """An image or drawing of a line's height, as formulas are that an editor exported as one."""

    serial: int
    box: Box


@dataclass(frozen=True, slots=True)
class PageMarks:
    """Everything that a page paints, as far as formulas may be made of it."""

    width: float
    height: float
    glyphs: tuple[Glyph, ...]
    bars: tuple[Rule, ...] = ()
    roots: tuple[RootSign, ...] = ()
    pictures: tuple[SmallPicture, ...] = ()


@dataclass(frozen=True, slots=True)
class FormulaRegion:
    """The marks of one formula; `display` where it stands on rows of its own."""

    box: Box
    glyphs: tuple[Glyph, ...]
    bars: tuple[Rule, ...] = ()
    roots: tuple[RootSign, ...] = ()
    pictures: tuple[SmallPicture, ...] = ()
    display: bool = False


@dataclass(frozen=True, slots=True)
class Formula:
    """A region as LaTeX, without dollar signs, and what is doubtful of it.

    `doubts` is empty where the reading is certain. Each is a short sentence for a reader, such as
    `a glyph of font F1 is unknown` or `a mark belongs to no part of the formula`.
    """

    region: FormulaRegion
    latex: str
    doubts: tuple[str, ...] = ()
