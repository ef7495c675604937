"""Completeness of a formula: matched brackets, and an end that does not break off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from omibench.stages.ocr.formulas.tree.nodes import Chemistry, Node, Row, Sign, Words

_FUNCTIONS = frozenset(
    ("sin", "cos", "tan", "cot", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "ln", "log",
     "exp")
)  # fmt: skip
"""Functions that need an argument."""
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
        return last.command == "operator" and last.text in _FUNCTIONS
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
