"""Doubts from constructs that are more often misread than written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from omibench.stages.ocr.formulas.tree.balance import ends_open, list_children
from omibench.stages.ocr.formulas.tree.nodes import (
    Accent,
    Fraction,
    Node,
    Root,
    Row,
    Script,
    Sign,
)

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
