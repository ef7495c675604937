"""Nodes of a formula's tree, their completeness, and their positions during construction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from math import inf
from typing import Any, Literal, TypeVar

from glyphtex.boxes import Box, unite
from glyphtex.marks import Glyph, GlyphSymbol, Kind
from glyphtex.units import AXIS, WITH_ARGUMENT

GridKind = Literal[
    "matrix",
    "pmatrix",
    "bmatrix",
    "Bmatrix",
    "vmatrix",
    "Vmatrix",
    "cases",
    "aligned",
    "gathered",
    "binom",
]


@dataclass(frozen=True, slots=True)
class Sign:
    """One symbol."""

    latex: str
    kind: Kind
    upright: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Consecutive parts on a baseline."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """Base with its superscripts, subscripts, left scripts and primes."""

    base: Node
    sub: Node | None = None
    sup: Node | None = None
    primes: int = 0
    left_sub: Node | None = None
    left_sup: Node | None = None


@dataclass(frozen=True, slots=True)
class Fraction:
    above: Node
    below: Node


@dataclass(frozen=True, slots=True)
class Root:
    body: Node
    index: Node | None = None


@dataclass(frozen=True, slots=True)
class LimitsNode:
    """Operator, arrow, relation or brace with the limits below and above it."""

    base: Node
    below: Node | None = None
    above: Node | None = None


@dataclass(frozen=True, slots=True)
class Fence:
    """Brackets that grow with their content; an empty side has no bracket."""

    left: str
    body: Node
    right: str


@dataclass(frozen=True, slots=True)
class Accent:
    """Command over or under its body: `\\hat`, `\\overline`, `\\underbrace`."""

    command: str
    body: Node


@dataclass(frozen=True, slots=True)
class Words:
    """Upright letters: a function name, a unit, or text inside the formula."""

    text: str
    command: Literal["operator", "\\mathrm", "\\text"]


@dataclass(frozen=True, slots=True)
class GridNode:
    """Rows and columns: a matrix, cases, or aligned rows."""

    rows: tuple[tuple[Node, ...], ...]
    kind: GridKind


@dataclass(frozen=True, slots=True)
class Chemistry:
    """Formula or reaction in the notation of mhchem, such as `2H2 + O2 -> 2H2O`."""

    text: str


Node = (
    Sign
    | Row
    | Script
    | Fraction
    | Root
    | LimitsNode
    | Fence
    | Accent
    | Words
    | GridNode
    | Chemistry
)


# Completeness of a formula: matched brackets, and an end that does not break off.

_AFTER_OPERANDS = frozenset(
    ("!", "*", "\\ast", "\\star", "\\prime", "\\dagger", "\\uparrow", "\\downarrow")
)
"""Signs that can end a formula: `n!`, `z*`."""
_OPEN_REACTIONS = (" +", "->", "<=>", "<->", " =")
"""Ends of a reaction that goes on."""


def are_balanced(node: Node) -> bool:
    """Return whether every row has as many closing brackets as opening ones.

    Half-open intervals count as balanced, in both notations: `[0, 1)` and `[0, 1[`.
    """
    if isinstance(node, Row) and not _is_even(node):
        return False
    if isinstance(node, Chemistry):
        return all(node.text.count(a) == node.text.count(b) for a, b in ("()", "[]"))
    return all(are_balanced(child) for child in list_children(node))


def ends_open(node: Node) -> bool:
    """Return whether the last symbol of a row needs something after it, as in `v =`."""
    if isinstance(node, Chemistry):
        return node.text.endswith(_OPEN_REACTIONS)
    last = node.children[-1] if isinstance(node, Row) and node.children else None
    if isinstance(last, Words):
        return last.command == "operator" and last.text in WITH_ARGUMENT
    return isinstance(last, Sign) and (
        last.kind in {"relation", "operator", "arrow"} and last.latex not in _AFTER_OPERANDS
    )


def _is_even(row: Row) -> bool:
    signs = [_bracket(child) for child in row.children]
    square = sum(sign.latex in {"[", "]"} for sign in signs if sign)
    opened = sum(sign.kind == "open" for sign in signs if sign)
    closed = sum(sign.kind == "close" for sign in signs if sign)
    return opened == closed or (square > 0 and (opened + closed) % 2 == 0)


def _bracket(node: Any) -> Sign | None:
    """Return the bracket that a child of a row is, alone or with scripts."""
    base = getattr(node, "base", node)
    return base if isinstance(base, Sign) and base.kind in {"open", "close"} else None


def list_children(node: Any) -> Iterator[Node]:
    """Yield the direct children of a node, or the nodes of a row or a table of them."""
    values = node if isinstance(node, tuple) else [getattr(node, f.name) for f in fields(node)]
    for value in values:
        if isinstance(value, tuple):
            yield from list_children(value)
        elif isinstance(value, Node):
            yield value


# Doubts from constructs that are more often misread than written.

SCRIPT = "a script is next to a fraction or a root without brackets"
ACCENT = "an accent covers a letter and its scripts"
ARROW = "a two-headed arrow over letters may have only one head"
VECTOR = "an arrow over a capital may also cover the next letter"
OPEN = "a part of a fraction or a root ends with a sign that needs something after it"
_RARE_ARROWS = frozenset(("\\overleftrightarrow", "\\underleftrightarrow"))
_ARROWS = frozenset(("\\overrightarrow", "\\overleftarrow"))


def find_constructs(node: Node) -> Iterator[str]:
    """Yield the doubts of a formula's tree."""
    if isinstance(node, Script) and isinstance(node.base, Fraction | Root):
        yield SCRIPT
    if any(ends_open(part) for part in _list_parts(node)):
        yield OPEN
    if isinstance(node, Accent):
        if node.command in _RARE_ARROWS:
            yield ARROW
        elif node.command in _ARROWS and isinstance(node.body, Script):
            yield ACCENT
    if isinstance(node, Row) and any(
        _is_capital(b) and isinstance(a, Accent) and a.command == "\\vec" and _is_capital(a.body)
        for a, b in pairwise(node.children)
    ):
        yield VECTOR
    for child in list_children(node):
        yield from find_constructs(child)


def _list_parts(node: Node) -> tuple[Node, ...]:
    """List the parts of a node that are complete by themselves."""
    if isinstance(node, Fraction):
        return (node.above, node.below)
    return (node.body,) if isinstance(node, Root) else ()


def _is_capital(node: Node) -> bool:
    return isinstance(node, Sign) and node.latex.isalpha() and node.latex.isupper()


# Parts of a formula during its construction: nodes of the tree with their positions.


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


_Thing = TypeVar("_Thing", PlacedPart, Rule)
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


def without(parts: Iterable[_Thing], taken: Iterable[_Thing]) -> list[_Thing]:
    """Return the parts, or rules, that are not among those taken."""
    ids = {id(part) for part in taken}
    return [part for part in parts if id(part) not in ids]


def split_at_gaps(
    parts: Iterable[PlacedPart], gap: float, size: float | None = None
) -> list[list[PlacedPart]]:
    """Split parts from left to right at wide spaces.

    Args:
        parts: Parts of a row.
        gap: Minimum width of such a space, in ems.
        size: Type size in points; by default that of the part after the space.
    """
    runs: list[list[PlacedPart]] = []
    end = -inf
    for part in sorted(parts, key=lambda p: p.box.x0):
        if part.box.x0 - end < gap * (size or part.size):
            runs[-1].append(part)
        else:
            runs.append([part])
        end = max(end, part.box.x1)
    return runs
