"""Parts of a formula during its construction: nodes of the tree with their positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol, Kind, unite
from omibench.stages.ocr.formulas.tree.nodes import Node, Row, Sign
from omibench.stages.ocr.layout.layout import Box

AXIS = 0.25
"""Height of the mathematical axis above the baseline, in ems: fraction bars, minus signs and the
middles of brackets lie on it (Computer Modern .25, STIX .26, Cambria Math .28).
"""


@dataclass(frozen=True, slots=True)
class PlacedPart:
    """Node with its position.

    `y` is its baseline. `axis` is the height of its middle if it is centred on the axis of its row,
    as brackets, sums and fractions are; else None. Lengths in points, y downwards.
    """

    node: Node
    box: Box
    y: float
    size: float
    kind: Kind
    marks: frozenset[int]
    """Indices of its marks in the region."""
    axis: float | None = None

    @property
    def latex(self) -> str:
        """LaTeX of a part that is one symbol; else empty."""
        return self.node.latex if isinstance(self.node, Sign) else ""

    @property
    def middle(self) -> float:
        """Height of the axis of its row."""
        return self.y - AXIS * self.size if self.axis is None else self.axis

    @property
    def x(self) -> float:
        """Horizontal centre."""
        return (self.box.x0 + self.box.x1) / 2


@dataclass(frozen=True, slots=True)
class Rule:
    """Bar of a formula, or a root sign with its bar.

    `sign` is the root's sign; then its bar begins at `x0`, and `y` is the bar's height.
    """

    x0: float
    x1: float
    y: float
    marks: frozenset[int]
    sign: PlacedPart | None = None

    @property
    def width(self) -> float:
        return self.x1 - (self.sign.box.x0 if self.sign else self.x0)


@dataclass(slots=True)
class Doubts:
    """Doubts about a reading, each once, in order of appearance.

    `build_row` combines the parts of a row. `is_embedded` if the document has the formula as an
    object, so that its extent is certain.
    """

    build_row: Callable[[Sequence[PlacedPart], Doubts], PlacedPart]
    is_embedded: bool = False
    texts: list[str] = field(default_factory=list)

    def build(self, parts: Sequence[PlacedPart]) -> PlacedPart:
        """Combine the parts of a row of the formula."""
        return self.build_row(parts, self)

    def add(self, text: str) -> None:
        """Add a doubt, a short message, unless it is present."""
        if text not in self.texts:
            self.texts.append(text)


_CENTRED: frozenset[Kind] = frozenset({"open", "close", "large", "root"})


_TALL = 1.4
"""Minimum height of a grown operator, such as a slash between fractions, in ems."""
_SMALLEST = 0.5
"""Minimum type size in points, so that an em never vanishes."""
_TALL_BARS = {"\\mid": "|", "\\parallel": "\\|"}
"""Relations that are brackets if they are tall."""


def part_of_glyph(glyph: Glyph, mark: int) -> PlacedPart:
    """Return a glyph as a part; `mark` is its index in the region."""
    symbol = glyph.symbol
    if symbol.latex in _TALL_BARS and glyph.box.height > 1.15 * glyph.size:
        symbol = GlyphSymbol(_TALL_BARS[symbol.latex], "punctuation")
    sign = Sign(
        symbol.latex,
        symbol.kind,
        upright=symbol.upright and not glyph.italic,
        bold=glyph.bold and symbol.kind == "letter" and len(symbol.latex) == 1,
    )
    centred = (
        symbol.kind in _CENTRED
        or (symbol.latex in {"|", "\\|"} and glyph.box.height > 0.8 * glyph.size)
        or (symbol.kind == "operator" and glyph.box.height > _TALL * glyph.size)
    )
    return PlacedPart(
        node=sign,
        box=glyph.box,
        y=glyph.y,
        size=max(glyph.size, _SMALLEST),
        kind=symbol.kind,
        marks=frozenset({mark}),
        axis=glyph.box.centre[1] if centred else None,
    )


def bounds(parts: Iterable[PlacedPart]) -> Box:
    """Return the smallest box around one or more parts."""
    return unite(part.box for part in parts)


def all_marks(parts: Iterable[PlacedPart]) -> frozenset[int]:
    """Return the mark indices of all parts."""
    return frozenset().union(*(part.marks for part in parts))


def join(
    parts: Sequence[PlacedPart], node: Node, like: PlacedPart, **changes: object
) -> PlacedPart:
    """Replace several parts by one with `node`, on the baseline of one of them.

    Args:
        parts: Parts to replace.
        node: Tree of all of them.
        like: Part that provides the baseline, size and kind.
        changes: Fields that differ from `like`'s.
    """
    return replace(
        like,
        node=node,
        box=bounds(parts),
        marks=all_marks(parts),
        **changes,  # type: ignore[arg-type]
    )


def without(parts: Iterable[PlacedPart], taken: Iterable[PlacedPart]) -> list[PlacedPart]:
    """Return the parts that are not among those taken."""
    ids = {id(part) for part in taken}
    return [part for part in parts if id(part) not in ids]


def row_node(nodes: Sequence[Node], gaps: Sequence[float] = ()) -> Node:
    """Return nodes in a row; a single node is returned unchanged."""
    return nodes[0] if len(nodes) == 1 else Row(tuple(nodes), tuple(gaps))
