"""Words that identify formulas: function names, units, ordinals, chemical elements."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from glyphtex.boxes import Box, unite
from glyphtex.marks import Glyph, Kind, RootSign, Rule, SmallPicture

_FUNCTIONS = (
    "sin cos tan cot sec csc sen tg ctg arcsin arccos arctan arctg sinh cosh tanh coth log ln lg "
    "exp lim max min sup inf det dim ker deg arg gcd lcm mod grad div rot curl tr sgn Re Im Pr"
)
_UNITS = (
    "m s g A K N J W V C F H T L l h d u b kg mg km cm mm dm nm pm fm ms ns min mol cd Hz kHz MHz "
    "GHz Pa kPa MPa hPa bar atm kJ MJ GJ mJ kW MW GW mW kV mV MV kN mN MN mA kA mC nC pC nF pF mF "
    "mH mT eV keV MeV GeV rad sr ml mL cal kcal Wb Bq Sv Gy ly pc kpc Mpc AU ua UA yr ano sec rpm "
    "lm lx Ω kΩ MΩ \u2126 k\u2126 M\u2126 Å μm μs μC μF μA μV μg µm µs µC µF µA µV µg µT µL μL"
)
_ORDINALS = "st nd rd th o a os as er e ere re eme ème º ª ᵒ to ta do da"
_ELEMENTS = (
    "He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Sc|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Zr|Nb|"
    "Mo|Tc|Ru|Rh|Pd|Ag|Cd|In|Sn|Sb|Te|Xe|Cs|Ba|La|Ce|Pr|Nd|Pm|Sm|Eu|Gd|Tb|Dy|Ho|Er|Tm|Yb|Lu|Hf|"
    "Ta|Re|Os|Ir|Pt|Au|Hg|Tl|Pb|Bi|Po|At|Rn|Fr|Ra|Ac|Th|Pa|Np|Pu|Am|Cm|HA|H|B|C|N|O|F|P|S|K|V|Y|I|"
    "W|U"
)
FUNCTIONS = frozenset(_FUNCTIONS.split())
UNITS = frozenset(_UNITS.split())
ORDINALS = frozenset(_ORDINALS.split())
NAMES = frozenset(("const", "pH", "pOH"))
"""Words that represent a quantity next to a relation."""
STATES = frozenset(("s", "l", "g", "aq"))
"""States of matter after a chemical formula."""
_CHEMICAL = re.compile(rf"[(\[]?(?:(?:{_ELEMENTS})\d{{0,2}}|[()\[\]]\d{{0,2}}|e)+")


def is_chemical(text: str) -> bool:
    """Return whether a text, scripts written as plain digits, consists of element symbols."""
    return _CHEMICAL.fullmatch(text) is not None


# Units of a page: single glyphs, or marks combined in two dimensions.

AXIS = 0.25
"""Height of the axis of fractions and operators above the baseline, in type sizes."""
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


# Units of a page in rows from left to right, scripts attached to their bases.

Row = list[RowUnit]
_LEVEL = 0.12
"""Maximum difference between baselines of one row, in type sizes."""
_MOST_ROWS = 12
"""Maximum number of rows next to a block that are examined."""
_COLUMN_GAP = 1.3
"""Minimum gap that splits a row, in type sizes: columns, choices and equation numbers."""
_INSIDE = 0.5
"""Weight of the gap between a bracket and its content if several rows are near."""
_OFF_AXIS_ROWS = 0.36
"""Maximum distance of a block's axis from that of an adjacent row, as a share of its height."""
_BESIDE = 0.4
"""Maximum gap between a block and such a row, in type sizes."""


def form_rows(groups: Iterable[Sequence[RowUnit]]) -> list[Row]:
    """Return rows of units; a row ends at a wide gap.

    Args:
        groups: Units of a page in any grouping, their scripts attached.

    Returns:
        Rows, each from left to right.
    """
    remaining = sorted((u for group in groups for u in group), key=lambda u: u.box.x0)
    letters = sorted((u for u in remaining if not u.has_axis), key=lambda u: u.baseline)
    rows: list[Row] = []
    for unit in letters:
        row = rows[-1] if rows else None
        if row and unit.baseline - row[0].baseline < _LEVEL * max(unit.size, row[0].size):
            row.append(unit)
        else:
            rows.append([unit])
    _place_blocks(rows, [u for u in remaining if u.has_axis])
    return [part for row in rows for part in _part(sorted(row, key=lambda u: u.box.x0))]


def _place_blocks(rows: list[Row], blocks: Sequence[RowUnit]) -> None:
    """Add blocks to the rows at their axis level, and the others to new rows."""
    levels = [row[0].baseline for row in rows]
    count = len(rows)
    waiting = sorted(blocks, key=lambda u: u.axis)
    while waiting:
        left: list[RowUnit] = []
        for block in waiting:
            low = bisect_left(levels, block.axis - 2, 0, count)
            row = _choose_row(block, [*rows[low : min(low + _MOST_ROWS, count)], *rows[count:]])
            if row is None:
                left.append(block)
            else:
                row.append(block)
        if len(left) == len(waiting):
            block = left.pop(0)
            row = _choose_row_beside(block, rows)
            if row is None:
                rows.append([block])
            else:
                row.append(block)
        waiting = left


def _choose_row(block: RowUnit, rows: Sequence[Row]) -> Row | None:
    best: tuple[float, Row] | None = None
    for row in rows:
        size = max(u.size for u in row)
        off = abs(row[0].axis - block.axis)
        if off > 0.24 * max(size, block.size):
            continue
        gap = min(u.whole_box.gap_x(block.whole_box) for u in row)
        distance = off + 0.01 * max(gap, 0) + _INSIDE * _gap_inside(block, row, size)
        if gap < _COLUMN_GAP * size and (best is None or distance < best[0]):
            best = (distance, row)
    return best[1] if best else None


def _gap_inside(block: RowUnit, row: Row, size: float) -> float:
    """Return the points between a bracket and its content, at most two type sizes; else 0."""
    kind = block.glyphs[0].symbol.kind if block.glyph else ""
    if kind not in ("open", "close"):
        return 0.0
    middle = block.box.centre[0]
    gaps = (
        u.whole_box.x0 - block.box.x1 if kind == "open" else block.box.x0 - u.whole_box.x1
        for u in row
        if (u.box.centre[0] > middle) == (kind == "open")
    )
    return min(2 * size, max(0.0, min(gaps, default=2 * size)))


def _choose_row_beside(block: RowUnit, rows: Sequence[Row]) -> Row | None:
    """Choose the row whose type ends right next to a tall block, slightly off the block's axis."""
    for row in rows:
        size = max(u.size for u in row)
        off = abs(row[0].axis - block.axis)
        if block.box.height < _TALL * size or off > min(_OFF_AXIS_ROWS * block.box.height, size):
            continue
        gap = min(abs(u.whole_box.gap_x(block.whole_box)) for u in row)
        if gap < _BESIDE * size:
            return row
    return None


def _part(row: Row) -> list[Row]:
    parts: list[Row] = []
    end = 0.0
    for unit in row:
        box = unit.whole_box
        if parts and box.x0 - end < _COLUMN_GAP * unit.size:
            parts[-1].append(unit)
        else:
            parts.append([unit])
            end = box.x1
        end = max(end, box.x1)
    return parts
