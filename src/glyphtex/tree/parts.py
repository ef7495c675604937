"""Parts of a page or of a formula: marks that form one symbol or one construct, with its tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import inf
from operator import itemgetter
from typing import TypeVar

from glyphtex.marks import AXIS, Box, Glyph, GlyphSymbol, Kind, RootSign, Rule, unite
from glyphtex.tree.nodes import Node, Sign

_CENTRED = frozenset(("large", "piece", "root"))
_GROWING = frozenset(("open", "close", "relation", "operator", "punctuation"))
_TALL_BRACKET = 1.12
"""Minimum height of a grown bracket, in type sizes: ordinary ones have 0.9 to 1.05."""
_OFF_AXIS = 0.3
"""Maximum distance of an ordinary bracket's middle from the axis, in type sizes."""
_TALL = 1.3
"""Minimum height of another sign that has grown, in type sizes."""
_SMALLEST = 0.5
"""Minimum type size in points, so that an em never vanishes."""
_TALL_BARS = {"\\mid": "|", "\\parallel": "\\|"}
"""Relations that are brackets if they are tall."""
_NEIGHBOUR = 0.45
"""Maximum gap to the next glyph of the same words in a row, in type sizes."""
_CELL = 24.0
"""Side of the squares in which parts are looked up, in points."""


@dataclass(slots=True, eq=False)
class Part:
    """Marks of a page that form a symbol, a fraction, a root with its radicand.

    `y` is the baseline. `axis` is the height of the middle if it is centred on the axis of its row,
    as sums, fractions and tall brackets are (those of TeX's extension fonts hang from their origin
    at any height); else None. Lengths in points, y downwards.
    """

    node: Node
    box: Box
    y: float
    size: float
    kind: Kind
    glyphs: tuple[Glyph, ...]
    """Those of its base first."""
    bars: tuple[Rule, ...] = ()
    roots: tuple[RootSign, ...] = ()
    axis: float | None = None
    doubts: tuple[str, ...] = ()
    scripts: list[Part] = field(default_factory=list)
    """Scripts of a part of a row, which are not in its tree yet."""
    is_object: bool = False
    """Whether it is a whole formula, embedded as an object."""

    is_block: bool = field(init=False)
    """Whether it is more than a glyph."""
    text: str = field(init=False)
    """Character of a part that is one glyph, else nothing."""
    latex: str = field(init=False)
    """LaTeX of a part that is one symbol; else nothing."""

    def __post_init__(self) -> None:
        self.is_block = len(self.glyphs) != 1 or bool(self.bars or self.roots)
        self.text = "" if self.is_block else self.glyphs[0].text
        self.latex = self.node.latex if isinstance(self.node, Sign) else ""

    @property
    def glyph(self) -> Glyph | None:
        """Glyph of a part that is one glyph, else None."""
        return None if self.is_block else self.glyphs[0]

    @property
    def middle(self) -> float:
        """Height of the axis of its row."""
        return self.y - AXIS * self.size if self.axis is None else self.axis

    @property
    def baseline(self) -> float:
        """Height of the baseline of its row."""
        return self.y if self.axis is None else self.axis + AXIS * self.size

    @property
    def x(self) -> float:
        """Horizontal centre."""
        return (self.box.x0 + self.box.x1) / 2

    @property
    def whole_box(self) -> Box:
        """Box including scripts."""
        if not self.scripts:
            return self.box
        return unite([self.box, *(script.whole_box for script in self.scripts)])

    def walk(self) -> Iterator[Part]:
        """Yield the part and its scripts."""
        yield self
        for script in self.scripts:
            yield from script.walk()

    def change(self, **changes: object) -> Part:
        """Return a part of a tree that differs in some fields, without the scripts of a row."""
        values = {name: getattr(self, name) for name in _COPIED}
        return Part(**(values | changes))

    def shift(self, dx: float, dy: float) -> Part:
        """Return the part at another place, without the scripts of a row."""
        x0, y0, x1, y1 = self.box
        axis = None if self.axis is None else self.axis + dy
        return self.change(box=Box(x0 + dx, y0 + dy, x1 + dx, y1 + dy), y=self.y + dy, axis=axis)


_COPIED = (
    "node", "box", "y", "size", "kind", "glyphs", "bars", "roots", "axis", "doubts",
)  # fmt: skip


def part_of_glyph(glyph: Glyph) -> Part:
    """Return a glyph as a part."""
    symbol, size = glyph.symbol, max(glyph.size, _SMALLEST)
    doubts: tuple[str, ...] = ()
    if symbol.latex in _TALL_BARS and glyph.box.height > _TALL_BRACKET * size:
        symbol = GlyphSymbol(_TALL_BARS[symbol.latex], "punctuation")
    is_bold = glyph.bold and symbol.kind == "letter" and len(symbol.latex) == 1
    sign = Sign(symbol.latex, symbol.kind, symbol.upright and not glyph.italic, is_bold)
    if symbol.kind == "unknown":
        doubts = (f"a glyph of font {glyph.font or 'without a name'} is unknown",)
    axis = glyph.box.centre[1] if _is_tall(glyph, symbol.kind) else None
    return Part(sign, glyph.box, glyph.y, size, symbol.kind, (glyph,), axis=axis, doubts=doubts)


def _is_tall(glyph: Glyph, kind: Kind) -> bool:
    """Return whether a glyph is centred on the axis of its row."""
    if kind not in _GROWING:
        return kind in _CENTRED
    height, size = glyph.box.height, max(glyph.size, _SMALLEST)
    if kind not in ("open", "close"):
        return height > _TALL * size
    offset = abs(glyph.box.centre[1] - glyph.y + AXIS * size)
    return offset > _OFF_AXIS * size or height > _TALL_BRACKET * size


def bounds(parts: Iterable[Part]) -> Box:
    """Return the smallest box around one or more parts."""
    return unite(part.box for part in parts)


def join(
    parts: Iterable[Part], node: Node, like: Part, *, bars: Iterable[Rule] = (), **changes: object
) -> Part:
    """Replace several parts by one with `node`, on the baseline of one of them.

    Args:
        parts: Parts to replace.
        node: Tree of all of them.
        like: Part that provides the baseline, size and kind.
        bars: Rules between them.
        changes: Fields that differ from `like`'s.
    """
    parts = list(parts)
    first = sorted(parts, key=lambda part: part is not like)
    rules = tuple(bars)
    merged: dict[str, object] = {
        "node": node,
        "box": unite([*(p.box for p in parts), *(bar.box for bar in rules)]),
        "glyphs": tuple(glyph for p in first for glyph in p.glyphs),
        "bars": tuple(bar for p in first for bar in p.bars) + rules,
        "roots": tuple(root for p in first for root in p.roots),
        "doubts": tuple(dict.fromkeys(doubt for p in parts for doubt in p.doubts)),
    }
    return like.change(**(merged | changes))


def count_marks(parts: Iterable[Part]) -> int:
    """Return the number of marks of all parts."""
    return sum(len(p.glyphs) + len(p.bars) + len(p.roots) for p in parts)


_Thing = TypeVar("_Thing")


def without(parts: Iterable[_Thing], taken: Iterable[_Thing]) -> list[_Thing]:
    """Return the parts that are not among those taken."""
    ids = {id(part) for part in taken}
    return [part for part in parts if id(part) not in ids]


def split_at_gaps(parts: Iterable[Part], gap: float, size: float | None = None) -> list[list[Part]]:
    """Split parts from left to right at wide spaces.

    Args:
        parts: Parts of a row.
        gap: Minimum width of such a space, in ems.
        size: Type size in points; by default that of the part after the space.
    """
    runs: list[list[Part]] = []
    end = -inf
    for part in sorted(parts, key=lambda p: p.box.x0):
        if part.box.x0 - end < gap * (size or part.size):
            runs[-1].append(part)
        else:
            runs.append([part])
        end = max(end, part.box.x1)
    return runs


@dataclass(slots=True)
class Doubts:
    """Doubts about a reading, each once, in order of appearance.

    `build_row` combines the parts of a row. `is_embedded` if the document has the formula as an
    object, so that its extent is certain.
    """

    build_row: Callable[[Sequence[Part], Doubts], Part]
    is_embedded: bool = False
    texts: dict[str, None] = field(default_factory=dict)

    def build(self, parts: Sequence[Part]) -> Part:
        """Combine the parts of a row of the formula."""
        return self.build_row(parts, self)

    def add(self, text: str) -> None:
        """Add a doubt, a short message, unless it is present."""
        self.texts.setdefault(text)

    def flush(self, part: Part) -> Part:
        """Move the doubts to the part that they are about."""
        if self.texts:
            part.doubts = tuple(dict.fromkeys((*part.doubts, *self.texts)))
            self.texts.clear()
        return part


class Neighbours:
    """The nearby next part on the baseline of each part, where a row of words continues."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self.left: dict[Part, Part] = {}
        self.right: dict[Part, Part] = {}
        rows: defaultdict[int, list[tuple[float, float, Part]]] = defaultdict(list)
        for part in parts:
            if part.axis is None:
                rows[round(part.y)].append((part.box.x0, part.y, part))
        for level, row in list(rows.items()):
            both = sorted([*row, *rows.get(level + 1, ())], key=itemgetter(0))
            for (_, a_level, a), (x0, b_level, b) in pairwise(both):
                if (
                    abs(a_level - b_level) < 0.06 * a.size
                    and x0 - a.box.x1 < _NEIGHBOUR * min(a.size, b.size)
                    and 0.8 < a.size / b.size < 1.25
                ):
                    self.right.setdefault(a, b)
                    self.left.setdefault(b, a)


class Field:
    """Parts of a page, looked up by place; joined ones replace their parts."""

    def __init__(self, parts: Iterable[Part], doubts: Doubts) -> None:
        self.doubts = doubts
        self._cells: defaultdict[tuple[int, int], dict[Part, tuple[float, float]]]
        self._cells = defaultdict(dict)
        self.parts: dict[Part, None] = {}
        for part in parts:
            self.add(part)

    def add(self, part: Part) -> None:
        self.parts[part] = None
        centre = part.box.centre
        self._cells[_cell(*centre)][part] = centre

    def replace(self, parts: Iterable[Part], whole: Part) -> None:
        """Replace parts by a joined one, which has the doubts that arose meanwhile."""
        for part in parts:
            self.parts.pop(part, None)
            self._cells[_cell(*part.box.centre)].pop(part, None)
        self.add(self.doubts.flush(whole))

    def centred_in(self, box: Box) -> list[Part]:
        """Return the parts whose centre is in a box, from left to right."""
        x0, y0 = _cell(max(box.x0, -1e5), max(box.y0, -1e5))
        x1, y1 = _cell(min(box.x1, 1e5), min(box.y1, 1e5))
        cells = self._cells
        if (x1 - x0 + 1) * (y1 - y0 + 1) > len(cells):
            near = list(cells.values())
        else:
            columns, rows = range(x0, x1 + 1), range(y0, y1 + 1)
            near = [cells[cell] for cell in product(columns, rows) if cell in cells]
        left, top, right, foot = box
        inside = [
            part
            for centres in near
            for part, (x, y) in centres.items()
            if left <= x <= right and top <= y <= foot
        ]
        return sorted(inside, key=lambda p: (p.box.x0, p.box.y0))


def _cell(x: float, y: float) -> tuple[int, int]:
    return int(x // _CELL), int(y // _CELL)
