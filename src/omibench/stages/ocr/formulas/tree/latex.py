"""The tree of a formula as LaTeX, in the simplest form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import singledispatch

from omibench.stages.ocr.formulas.tree.nodes import (
    Accent,
    Chemistry,
    Fence,
    Fraction,
    GridNode,
    LimitsNode,
    Node,
    Root,
    Row,
    Script,
    Sign,
    Words,
)
from omibench.stages.ocr.formulas.tree.words import OPERATORS


def write_latex(node: Node) -> str:
    """Return a tree as LaTeX that KaTeX renders, without dollar signs."""
    return _write(node)


@singledispatch
def _write(node: Node) -> str:
    raise TypeError(f"{type(node).__name__} is not a node of a formula")


@_write.register
def _(node: Sign) -> str:
    if node.bold:
        return f"\\mathbf{{{node.latex}}}" if node.upright else f"\\boldsymbol{{{node.latex}}}"
    return node.latex


@_write.register
def _(node: Row) -> str:
    return join_latex(_texts_joined(node.children))


def _texts_joined(nodes: Iterable[Node]) -> list[str]:
    """Return nodes as LaTeX; consecutive words share one `\\text{}`."""
    written: list[str] = []
    last: Node | None = None
    for node in nodes:
        if (
            isinstance(node, Words)
            and isinstance(last, Words)
            and "\\text" in {node.command, last.command}
            and "operator" not in {node.command, last.command}
        ):
            written[-1] = written[-1][:-1].replace("\\mathrm{", "\\text{") + f" {node.text}}}"
        else:
            written.append(_write(node))
        last = node
    return written


def join_latex(pieces: Iterable[str]) -> str:
    """Join pieces, with a space where a command would swallow the next letter."""
    text = ""
    for piece in pieces:
        if re.search(r"\\[A-Za-z]+$", text) and re.match(r"[A-Za-z]", piece):
            text += " "
        text += piece
    return text


@_write.register
def _(node: Script) -> str:
    left = _scripts(node.left_sub, node.left_sup)
    base = _write(node.base)
    if isinstance(node.base, Script | Row):
        base = f"{{{base}}}"
    prefix = "{}" + left if left else ""
    return prefix + base + "'" * node.primes + _scripts(node.sub, node.sup)


def _scripts(sub: Node | None, sup: Node | None) -> str:
    below = "" if sub is None else f"_{{{_write(sub)}}}"
    above = "" if sup is None else f"^{{{_write(sup)}}}"
    return below + above


@_write.register
def _(node: Fraction) -> str:
    return f"\\frac{{{_write(node.above)}}}{{{_write(node.below)}}}"


@_write.register
def _(node: Root) -> str:
    index = "" if node.index is None else f"[{_write(node.index)}]"
    return f"\\sqrt{index}{{{_write(node.body)}}}"


_LONG_ARROWS = {
    "\\to": "\\xrightarrow",
    "\\rightarrow": "\\xrightarrow",
    "\\longrightarrow": "\\xrightarrow",
    "\\leftarrow": "\\xleftarrow",
    "\\longleftarrow": "\\xleftarrow",
    "\\rightleftharpoons": "\\xrightleftharpoons",
    "\\Rightarrow": "\\xRightarrow",
    "\\Longrightarrow": "\\xRightarrow",
}


@_write.register
def _(node: LimitsNode) -> str:
    base = _write(node.base)
    if isinstance(node.base, Sign) and node.base.kind == "arrow":
        below = f"[{_write(node.below)}]" if node.below is not None else ""
        above = _write(node.above) if node.above is not None else ""
        return _LONG_ARROWS.get(base, "\\xrightarrow") + below + f"{{{above}}}"
    if isinstance(node.base, Sign) and node.base.kind == "relation":
        over = base if node.above is None else f"\\overset{{{_write(node.above)}}}{{{base}}}"
        return over if node.below is None else f"\\underset{{{_write(node.below)}}}{{{over}}}"
    return base + _scripts(node.below, node.above)


@_write.register
def _(node: Fence) -> str:
    body = _write(node.body)
    return join_latex([f"\\left{node.left or '.'}", body, f"\\right{node.right or '.'}"])


@_write.register
def _(node: Accent) -> str:
    return f"{node.command}{{{_write(node.body)}}}"


@_write.register
def _(node: Words) -> str:
    if node.command == "operator":
        return f"\\{node.text}" if node.text in OPERATORS else f"\\operatorname{{{node.text}}}"
    return f"{node.command}{{{node.text}}}"


@_write.register
def _(node: GridNode) -> str:
    if node.kind == "binom":
        above, below = (_write(row[0]) for row in node.rows)
        return f"\\binom{{{above}}}{{{below}}}"
    rows = " \\\\ ".join(" & ".join(_write(cell) for cell in row) for row in node.rows)
    return f"\\begin{{{node.kind}}}{rows}\\end{{{node.kind}}}"


@_write.register
def _(node: Chemistry) -> str:
    return f"\\ce{{{node.text}}}"
