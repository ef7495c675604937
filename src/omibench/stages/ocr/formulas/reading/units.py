"""Units of a page: single glyphs, or marks combined in two dimensions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from omibench.stages.ocr.formulas.marks import Glyph, RootSign, Rule, SmallPicture, unite
from omibench.stages.ocr.layout.layout import Box

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
