"""Nodes of a formula's tree, and what shows that one is incomplete or misread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Literal

from glyphtex.marks import WITH_ARGUMENT, Kind

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
