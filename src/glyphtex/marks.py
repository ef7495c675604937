"""Marks printed on a page: glyphs, rules, drawn roots and small pictures; their boxes and roles."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    from glyphtex.tree.parts import Part

# Rectangles on a page, in PDF points from its top left corner.


class Box(NamedTuple):
    """A rectangle (x0, y0, x1, y1) in points; y grows downwards."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def centre(self) -> tuple[float, float]:
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def union(self, other: Box) -> Box:
        """Return the smallest box around both."""
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )

    def clip(self, sheet: Box) -> Box:
        """Return the part of the box on a sheet; its corners change places if there is none."""
        return Box(
            max(self.x0, sheet.x0),
            max(self.y0, sheet.y0),
            min(self.x1, sheet.x1),
            min(self.y1, sheet.y1),
        )

    def round(self, digits: int = 1) -> tuple[float, float, float, float]:
        """Return the corners, rounded, as in files."""
        return tuple(round(edge, digits) for edge in self)  # type: ignore[return-value]

    def grow(self, dx: float, dy: float) -> Box:
        """Return the box grown by `dx` on the left and right and by `dy` above and below."""
        return Box(self.x0 - dx, self.y0 - dy, self.x1 + dx, self.y1 + dy)

    def touches(self, other: Box) -> bool:
        """Return whether the two share a point."""
        return not (
            self.x1 < other.x0 or other.x1 < self.x0 or self.y1 < other.y0 or other.y1 < self.y0
        )

    def holds(self, other: Box) -> bool:
        """Return whether the centre of `other` lies inside."""
        x, y = other.centre
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def gap_x(self, other: Box) -> float:
        """Return the horizontal distance; negative if the two overlap."""
        return max(self.x0, other.x0) - min(self.x1, other.x1)

    def gap_y(self, other: Box) -> float:
        """Return the vertical distance; negative if the two overlap."""
        return max(self.y0, other.y0) - min(self.y1, other.y1)


def unite(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around at least one box."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return Box(min(x0), min(y0), max(x1), max(y1))


_Thing = TypeVar("_Thing")
_BAND = 12.0
"""Height of the bands of a page, in points."""
_LAST_BAND = 400
"""Number of the lowest band: what is below it, or above the page, is in the nearest one."""


class Levels(Generic[_Thing]):
    """Things of a page, looked up by their height: only those in the same bands are compared."""

    def __init__(self) -> None:
        self._bands: defaultdict[int, dict[int, _Thing]] = defaultdict(dict)

    def add(self, number: int, y0: float, y1: float, thing: _Thing) -> None:
        """Add a thing, whose number is its place in the order of the answers."""
        for band in _list_bands(y0, y1):
            self._bands[band][number] = thing

    def remove(self, number: int, y0: float, y1: float) -> None:
        """Remove a thing that was added between these heights."""
        for band in _list_bands(y0, y1):
            del self._bands[band][number]

    def find(self, y0: float, y1: float) -> list[_Thing]:
        """Return the things that may be between two heights, all that are among them."""
        found: dict[int, _Thing] = {}
        for band in _list_bands(y0, y1):
            found |= self._bands.get(band, {})
        return [found[number] for number in sorted(found)]


def _list_bands(y0: float, y1: float) -> range:
    low, high = sorted(int(min(max(y, 0.0), _LAST_BAND * _BAND) // _BAND) for y in (y0, y1))
    return range(low, high + 1)


# Marks, and formulas as regions of them.

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


# Words that identify formulas: function names, units, ordinals, chemical elements.

_FUNCTIONS = """
    sin cos tan cot sec csc sen tg ctg arcsin arccos arctan arctg sinh cosh tanh coth log ln lg
    exp lim max min sup inf det dim ker deg arg gcd lcm mod grad div rot curl tr sgn Re Im Pr
"""
_UNITS = """
    m s g A K N J W V C F H T L l h d u b kg mg km cm mm dm nm pm fm ms ns ps min mol cd Hz kHz
    MHz GHz Pa kPa MPa hPa GPa bar atm kJ MJ GJ mJ kW MW GW mW kV mV MV kN mN MN mA kA mC nC pC
    nF pF mF mH mT nT eV keV MeV GeV rad sr ml mL cal kcal Wb Bq Sv Gy Ci ly pc kpc Mpc AU ua UA
    au yr ano sec day rpm lm lx Da kDa dB mmol ppm Torr mmHg ft lb gal Ω kΩ MΩ \u2126 k\u2126
    M\u2126 Å μm μs μC μF μA μV μg µm µs µC µF µA µV µg µT µL μL
"""
_ORDINALS = "st nd rd th o a os as er e ere re eme ème º ª ᵒ to ta do da"
ELEMENTS = """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se
    Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb
    Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm
    Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og
"""
_RARE = frozenset(["No", "Es", "Ds", "Mc", "Md", "Mt", "Ts"])
"""Elements whose symbols are words or abbreviations of prose."""
FUNCTIONS = frozenset(_FUNCTIONS.split())
UNITS = frozenset(_UNITS.split())
_NAMES = "sin cos tan cot csc sen tg ctg arcsin arccos arctan arctg sinh cosh tanh coth log ln exp"
WITH_ARGUMENT = frozenset(_NAMES.split())
"""Functions that need an argument: nothing ends with their names."""
ORDINALS = frozenset(_ORDINALS.split())
NAMES = frozenset(("const", "pH", "pOH"))
"""Words that represent a quantity next to a relation."""
STATES = frozenset(("s", "l", "g", "aq"))
"""States of matter after a chemical formula."""
_COMMON = "|".join(symbol for symbol in ELEMENTS.split() if symbol not in _RARE)
_CHEMICAL = re.compile(rf"[(\[]?(?:(?:{_COMMON}|HA)\d{{0,2}}|[()\[\]]\d{{0,2}}|e)+")


def is_chemical(text: str) -> bool:
    """Return whether a text, scripts written as plain digits, consists of element symbols."""
    return _CHEMICAL.fullmatch(text) is not None


# Roles of marks in a row.

AXIS = 0.25
"""Height of the mathematical axis above the baseline, in type sizes: fraction bars, minus signs and
the middles of brackets lie on it (Computer Modern .25, STIX .26, Cambria Math .28).
"""

# Roles of units in a row: certain mathematics, or words, numbers, operators and brackets.

Role = Literal[
    "math", "letter", "digit", "operator", "relation", "open", "close", "bar", "point", "other"
]
"""Role of a unit. `math` is certainly mathematics; `point` is a full stop or comma."""

_MATH_FONT = re.compile(
    r"^(?:CM(?:MI|SY|EX|BSY|MIB)|LMMath|MS[AB]M|EU[RFSE][MBX]|rsfs|NewTXMI|NewPXMI|ntx(?:mia|sy|ex)|"
    r"tx(?:mi|sy|ex|b?mia)|px(?:mi|sy|ex)|nxlmi|zxl|stix|Euclid(?!-?(?:Bold)?$)|MT-?Extra|"
    r"MathJax_(?!Main)|KaTeX_(?!Main)|Symbol(?:MT)?\b)|Math(?!J)",
)
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff\u2126\u2206]")
_LETTERLIKE = frozenset("△ℏħℓ∂∇∞∅ℵ℘ℜℑ∀∃ℂℍℕℙℚℝℤℬℰℱℋℐℒℳℛℭℌℨ")
_ALPHABETS = ("\U0001d400", "\U0001d7cb")
_HYPHENS = "-‐‑"
_QUOTES = "'’‘`´"
_BARS = "|∣‖∥"
_ROLES: dict[Kind, Role] = {
    "large": "math",
    "root": "math",
    "piece": "math",
    "prime": "math",
    "open": "open",
    "close": "close",
    "operator": "operator",
    "relation": "relation",
    "arrow": "relation",
    "digit": "digit",
}


@lru_cache(maxsize=4096)
def is_math_font(font: str) -> bool:
    """Return whether a font is mathematical by its name."""
    return _MATH_FONT.search(font) is not None


def is_sign_font(font: str) -> bool:
    """Return whether a font sets mathematics, including LibreOffice's font of signs."""
    return is_math_font(font) or font.startswith("OpenSymbol")


def role_of(unit: Part, *, has_greek_prose: bool = False) -> Role:
    """Return the role of a unit.

    Args:
        unit: Unit of a row, its scripts attached.
        has_greek_prose: Whether the page has Greek words, so that Greek letters prove nothing.
    """
    if unit.is_object:
        return "other"
    if unit.is_block:
        return "relation" if unit.kind in ("relation", "arrow") else "math"
    glyph = unit.glyphs[0]
    by_sign = _role_by_sign(glyph)
    if by_sign:
        return by_sign
    if _GREEK.match(glyph.text):
        return "letter" if has_greek_prose else "math"
    if glyph.symbol.kind == "letter":
        return "math" if is_variable(glyph) else "letter"
    return "letter" if glyph.text.isalpha() else "other"


def _role_by_sign(glyph: Glyph) -> Role | None:
    """Return the role of a character outside alphabets; None for letters and prose punctuation."""
    kind, text = glyph.symbol.kind, glyph.text
    if text in _BARS:
        return "bar"
    if text in ".,":
        return "point"
    # A symbol that a text font does not explain is not a formula: the page is broken, read again.
    is_unexplained = text == "\ufffd" and kind == "unknown"
    if (is_unexplained or text in _QUOTES) and not is_math_font(glyph.font):
        return "other"
    if text in _LETTERLIKE or _ALPHABETS[0] <= text <= _ALPHABETS[1] or text == "\ufffd":
        return _ROLES.get(kind, "math")
    if kind == "accent":
        return "math" if is_math_font(glyph.font) else None
    return _ROLES.get(kind) or ("digit" if text.isdecimal() else None)


def is_variable(glyph: Glyph) -> bool:
    """Return whether a letter's font sets variables only."""
    if not is_math_font(glyph.font):
        return False
    return not glyph.symbol.upright or glyph.symbol.latex.startswith("\\")


def is_math_letter(glyph: Glyph) -> bool:
    """Return whether a letter is mathematics by its font, alphabet or script."""
    if glyph.symbol.kind not in ("letter", "digit"):
        return False
    by_sign = _GREEK.match(glyph.text) or _role_by_sign(glyph) == "math"
    return is_math_font(glyph.font) or glyph.italic or bool(by_sign)


def is_hyphen(unit: Part) -> bool:
    """Return whether a unit is a hyphen of prose rather than a minus sign."""
    return not unit.is_block and unit.text in _HYPHENS
