"""Words that identify formulas: function names, units, ordinals, chemical elements."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from glyphtex.boxes import Box, unite
from glyphtex.marks import Glyph, Kind, RootSign, Rule, SmallPicture

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


# Units of a page: single glyphs, or marks combined in two dimensions.

AXIS = 0.25
"""Height of the mathematical axis above the baseline, in type sizes: fraction bars, minus signs and
the middles of brackets lie on it (Computer Modern .25, STIX .26, Cambria Math .28).
"""
_CENTRED = frozenset(("large", "piece", "root"))
_GROWING = frozenset(("open", "close", "relation", "operator", "punctuation"))
_MAY_BE_TALL = _CENTRED | _GROWING
_TALL_BRACKET = 1.12
"""Minimum height of a grown bracket, in type sizes: ordinary ones have 0.9 to 1.05."""
_OFF_AXIS = 0.3
"""Maximum distance of an ordinary bracket's middle from the axis, in type sizes."""
_TALL = 1.3
"""Minimum height of a bracket taller than a line, in type sizes."""
_CELL = 24.0
"""Side of the squares in which units are looked up, in points."""


@dataclass(slots=True, eq=False)
class RowUnit:
    """Marks that form one element of a row: a letter, a fraction, a root with its radicand.

    `axis` is its level in its row: a quarter of the type size above the baseline of a letter, the
    bar of a fraction. `size` is that of its largest glyph.
    """

    box: Box
    size: float
    axis: float
    glyphs: tuple[Glyph, ...]
    bars: tuple[Rule, ...] = ()
    roots: tuple[RootSign, ...] = ()
    pictures: tuple[SmallPicture, ...] = ()
    scripts: list[RowUnit] = field(default_factory=list)
    is_object: bool = False
    """Whether it is a whole formula, embedded as an object."""
    is_block: bool = field(init=False)
    """Whether it is more than a glyph."""
    is_tall: bool = field(init=False)
    """Whether it is a glyph centred on the axis: a sum, a bracket of several rows.

    Brackets of TeX's extension fonts hang from their origin at any height.
    """
    has_axis: bool = field(init=False)
    """Whether its axis places it in a row, rather than the baseline of its glyph."""

    def __post_init__(self) -> None:
        glyphs = self.glyphs
        is_block = len(glyphs) != 1 or bool(self.bars or self.roots or self.pictures)
        is_tall = bool(glyphs) and glyphs[0].symbol.kind in _MAY_BE_TALL and self._is_tall()
        self.is_block, self.is_tall, self.has_axis = is_block, is_tall, is_block or is_tall

    @property
    def glyph(self) -> Glyph | None:
        """Glyph of a single-glyph unit, else None."""
        return None if self.is_block else self.glyphs[0]

    @property
    def text(self) -> str:
        """Character of a single-glyph unit, else nothing."""
        return "" if self.is_block else self.glyphs[0].text

    @property
    def latex(self) -> str:
        """LaTeX of a single-glyph unit, else nothing."""
        return "" if self.is_block else self.glyphs[0].symbol.latex

    def _is_tall(self) -> bool:
        glyph = self.glyphs[0]
        if glyph.symbol.kind not in _GROWING:
            return glyph.symbol.kind in _CENTRED
        if glyph.symbol.kind not in ("open", "close"):
            return self.box.height > _TALL * self.size
        offset = abs(self.box.centre[1] - glyph.y + AXIS * self.size)
        return offset > _OFF_AXIS * self.size or self.box.height > _TALL_BRACKET * self.size

    @property
    def baseline(self) -> float:
        return self.axis + AXIS * self.size

    @property
    def whole_box(self) -> Box:
        """Box including scripts."""
        if not self.scripts:
            return self.box
        return unite([self.box, *(script.whole_box for script in self.scripts)])

    def walk(self) -> Iterator[RowUnit]:
        """Yield the unit and its scripts."""
        yield self
        for script in self.scripts:
            yield from script.walk()


def unit_of_glyph(glyph: Glyph) -> RowUnit:
    """Return a glyph as a unit."""
    unit = RowUnit(glyph.box, glyph.size, glyph.y - AXIS * glyph.size, (glyph,))
    if unit.is_tall:
        unit.axis = glyph.box.centre[1]
    return unit


def join_units(
    units: Sequence[RowUnit],
    axis: float,
    *,
    bars: Iterable[Rule] = (),
    roots: Iterable[RootSign] = (),
    size: float | None = None,
) -> RowUnit:
    """Join units with the bars and roots between them."""
    all_bars, all_roots = tuple(bars), tuple(roots)
    return RowUnit(
        unite([u.box for u in units] + [b.box for b in all_bars] + [r.box for r in all_roots]),
        size or max((unit.size for unit in units), default=10.0),
        axis,
        tuple(glyph for unit in units for glyph in unit.glyphs),
        tuple(bar for unit in units for bar in unit.bars) + all_bars,
        tuple(root for unit in units for root in unit.roots) + all_roots,
        tuple(picture for unit in units for picture in unit.pictures),
    )


class InkField:
    """Units of a page, looked up by place; joined ones replace their parts."""

    def __init__(self, units: Iterable[RowUnit]) -> None:
        self._cells: defaultdict[tuple[int, int], set[RowUnit]] = defaultdict(set)
        self.units: dict[RowUnit, None] = {}
        self._bars: set[Rule] = set()
        for unit in units:
            self.add(unit)

    def add(self, unit: RowUnit) -> None:
        self.units[unit] = None
        if unit.bars:
            self._bars.update(unit.bars)
        self._cells[_cell(*unit.box.centre)].add(unit)

    def remove(self, unit: RowUnit) -> None:
        self.units.pop(unit, None)
        self._cells[_cell(*unit.box.centre)].discard(unit)

    def replace(self, parts: Iterable[RowUnit], whole: RowUnit) -> None:
        """Replace parts by a joined unit."""
        for part in parts:
            self.remove(part)
        self.add(whole)

    def has_bar(self, bar: Rule) -> bool:
        """Return whether a bar is a part of a unit."""
        return bar in self._bars

    def centred_in(self, box: Box) -> list[RowUnit]:
        """Return the units whose centre is in a box, from left to right."""
        x0, y0 = _cell(box.x0, box.y0)
        x1, y1 = _cell(box.x1, box.y1)
        if (x1 - x0 + 1) * (y1 - y0 + 1) > len(self._cells):
            near: Iterable[RowUnit] = self.units
        else:
            near = (
                unit
                for x in range(x0, x1 + 1)
                for y in range(y0, y1 + 1)
                for unit in self._cells.get((x, y), ())
            )
        return sorted((u for u in near if box.holds(u.box)), key=lambda u: (u.box.x0, u.box.y0))


def _cell(x: float, y: float) -> tuple[int, int]:
    return int(x // _CELL), int(y // _CELL)


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


def role_of(unit: RowUnit, *, has_greek_prose: bool = False) -> Role:
    """Return the role of a unit.

    Args:
        unit: Unit of a row, its scripts attached.
        has_greek_prose: Whether the page has Greek words, so that Greek letters prove nothing.
    """
    if unit.is_object:
        return "other"
    if unit.is_block:
        return "math"
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


def is_hyphen(unit: RowUnit) -> bool:
    """Return whether a unit is a hyphen of prose rather than a minus sign."""
    return not unit.is_block and unit.text in _HYPHENS


Row = list[RowUnit]
