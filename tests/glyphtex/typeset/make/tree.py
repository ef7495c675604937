"""Our formulas as trees, for tools that do not read LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(r"\\[A-Za-z]+|\\.|\S")
_SPACES: Final = frozenset({r"\,", "\\ "})
ACCENTS: Final = frozenset(
    {r"\vec", r"\hat", r"\bar", r"\dot", r"\ddot", r"\tilde", r"\overline", r"\underline",
     r"\overrightarrow"}
)  # fmt: skip
FONTS: Final = frozenset({r"\mathrm", r"\mathbf", r"\mathcal", r"\mathbb", r"\text"})
FUNCTIONS: Final = frozenset(
    {r"\sin", r"\cos", r"\tan", r"\ln", r"\log", r"\exp", r"\arcsin", r"\arctan", r"\cosh",
     r"\lim", r"\max"}
)  # fmt: skip
BIG: Final = frozenset({r"\sum", r"\prod", r"\int", r"\oint", r"\bigcup"})


@dataclass(frozen=True)
class Node:
    """A part of a formula.

    `kind` is `sign`, `text`, `space`, `row`, `script` (base, below, above), `fraction`, `binomial`,
    `root` (radicand, index), `accent`, `font`, `fence`, or `table`, whose parts are rows of cells.
    """

    kind: str
    text: str = ""
    """The sign, the text, the command, the brackets, or the environment."""
    parts: tuple[Node | None, ...] = ()


class FormulaReader:
    """Reads the LaTeX that the grammar and the table of formulas use."""

    def __init__(self, latex: str) -> None:
        self._latex = latex
        self._tokens = [(m.group(), m.end()) for m in _TOKEN.finditer(latex)]
        self._place = 0

    def read(self) -> Node:
        """The whole formula."""
        return Node("row", "", tuple(self._read_row(())))

    def _look(self) -> str:
        return self._tokens[self._place][0] if self._place < len(self._tokens) else ""

    def _take(self) -> str:
        self._place += 1
        return self._tokens[self._place - 1][0]

    def _read_row(self, stops: Sequence[str]) -> list[Node]:
        nodes: list[Node] = []
        while (token := self._look()) and token not in stops:
            if token in {"^", "_", "'"}:
                base = nodes.pop() if nodes else Node("row")
                nodes.append(self._read_scripts(base))
            elif token in _SPACES:
                self._take()
                nodes.append(Node("space"))
            else:
                nodes.append(self._read_nucleus())
        return nodes

    def _read_scripts(self, base: Node) -> Node:
        below: Node | None = None
        above: list[Node] = []
        while self._look() in {"^", "_", "'"}:
            sign = self._take()
            if sign == "'":
                above.append(Node("sign", "′"))
            elif sign == "_":
                below = self._read_nucleus()
            else:
                above.append(self._read_nucleus())
        return Node("script", "", (base, below, Node("row", "", tuple(above)) if above else None))

    def _read_nucleus(self) -> Node:
        token = self._take()
        if token == "{":
            return Node("row", "", tuple(self._read_group()))
        if token in {r"\frac", r"\binom"}:
            kind = "fraction" if token == r"\frac" else "binomial"
            return Node(kind, "", (self._read_nucleus(), self._read_nucleus()))
        if token == r"\sqrt":
            return self._read_root()
        if token in ACCENTS:
            return Node("accent", token, (self._read_nucleus(),))
        if token in FONTS:
            return self._read_font(token)
        return self._read_structure(token)

    def _read_structure(self, token: str) -> Node:
        if token == r"\ce":
            return read_chemistry(self._read_source())
        if token == r"\left":
            opening = self._take()
            body = tuple(self._read_row((r"\right",)))
            self._take()
            return Node("fence", f"{opening} {self._take()}", (Node("row", "", body),))
        if token == r"\begin":
            return self._read_table()
        if token == r"\pmod":
            inner = (Node("text", "mod"), self._read_nucleus())
            return Node("row", "", (Node("sign", "("), *inner, Node("sign", ")")))
        return Node(
            "text" if token in FUNCTIONS else "sign",
            token.lstrip("\\") if token in FUNCTIONS else token,
        )

    def _read_group(self) -> list[Node]:
        nodes = self._read_row(("}",))
        self._take()
        return nodes

    def _read_root(self) -> Node:
        index: Node | None = None
        if self._look() == "[":
            self._take()
            index = Node("row", "", tuple(self._read_row(("]",))))
            self._take()
        return Node("root", "", (self._read_nucleus(), index))

    def _read_font(self, command: str) -> Node:
        if command == r"\text":
            return Node("text", self._read_source())
        if command == r"\mathrm":
            return _make_upright(self._read_nucleus())
        return Node("font", command, (self._read_nucleus(),))

    def _read_source(self) -> str:
        """The text of a group, its spaces kept."""
        start = self._tokens[self._place][1]
        depth = 0
        while True:
            token, end = self._tokens[self._place]
            self._place += 1
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                return self._latex[start : end - 1]

    def _read_table(self) -> Node:
        name = self._read_source()
        rows: list[Node] = []
        cells: list[Node] = []
        while True:
            cells.append(Node("row", "", tuple(self._read_row(("&", r"\\", r"\end")))))
            token = self._take()
            if token != "&":
                rows.append(Node("row", "", tuple(cells)))
                cells = []
            if token == r"\end":
                self._read_source()
                return Node("table", name, tuple(rows))


def _make_upright(node: Node) -> Node:
    """A row of letters as text, scripts and other parts as they are."""
    if node.kind == "sign":
        return Node("text", node.text) if node.text.isalpha() else node
    parts = tuple(_make_upright(part) if part else None for part in node.parts)
    if node.kind != "row":
        return Node(node.kind, node.text, parts)
    joined: list[Node | None] = []
    for part in parts:
        last = joined[-1] if joined else None
        if part and last and last.kind == "text" and _begins_with_letter(part):
            joined[-1] = _put_before(last.text, part)
        else:
            joined.append(part)
    return Node("row", "", tuple(joined))


def _begins_with_letter(node: Node) -> bool:
    base = node.parts[0] if node.kind == "script" else node
    return base is not None and base.kind == "text" and base.text.isalpha()


def _put_before(letters: str, node: Node) -> Node:
    """Letters joined with those of the node behind them, or of its base."""
    if node.kind == "text":
        return Node("text", letters + node.text)
    base = node.parts[0]
    assert base is not None
    return Node("script", "", (Node("text", letters + base.text), *node.parts[1:]))


_ARROWS: Final = {"->": r"\rightarrow", "<=>": r"\rightleftharpoons", "*": r"\cdot", "+": "+"}
_PARTICLE: Final = re.compile(
    r"([A-Za-z]+|[()\[\]])|_?\{?(\d+)\}?|\^\{?([\d+-]+)\}?|_\{?(\d+)\}?|([+-])"
)


def read_chemistry(source: str) -> Node:
    """A reaction: substances with their indices and charges, and signs between them."""
    nodes: list[Node] = []
    for word in source.split():
        if word in _ARROWS:
            nodes.append(Node("sign", _ARROWS[word]))
        else:
            nodes += _read_substance(word)
    return Node("row", "", tuple(nodes))


def _read_substance(word: str) -> list[Node]:
    nodes: list[Node] = []
    isotope = re.match(r"\^\{?(\d+)\}?_\{?(\d+)\}?", word)
    if isotope:
        above, below = isotope.groups()
        nodes.append(Node("script", "", (Node("row"), Node("sign", below), Node("sign", above))))
        word = word[isotope.end() :]
    coefficient = re.match(r"\d+", word)
    if coefficient:
        nodes.append(Node("sign", coefficient.group()))
        word = word[coefficient.end() :]
    for match in _PARTICLE.finditer(word):
        letters, index, charge, _, sign = match.groups()
        if letters:
            nodes.append(Node("text", letters) if letters.isalpha() else Node("sign", letters))
            continue
        base = nodes.pop()
        old_below = base.parts[1] if base.kind == "script" else None
        core = base.parts[0] if base.kind == "script" else base
        below = Node("sign", index) if index else old_below
        above = (
            Node("row", "", tuple(Node("sign", c) for c in (charge or sign)))
            if charge or sign
            else None
        )
        nodes.append(Node("script", "", (core, below, above)))
    return nodes


def merge_digits(nodes: Sequence[Node | None]) -> list[Node]:
    """Nodes of a row with the digits of each number in one."""
    merged: list[Node] = []
    for node in nodes:
        if node is None:
            continue
        base = node.parts[0] if node.kind == "script" else node
        last = merged[-1] if merged else None
        if base and last and _is_number(base) and _is_number(last):
            number = Node("sign", last.text + base.text)
            merged[-1] = number if base is node else Node("script", "", (number, *node.parts[1:]))
        else:
            merged.append(node)
    return merged


def _is_number(node: Node) -> bool:
    return node.kind == "sign" and re.fullmatch(r"[\d.]+", node.text) is not None


_BRACKETS: Final = {
    "(": ")", "[": "]", r"\{": r"\}", "|": "|", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil",
    r"\langle": r"\rangle",
}  # fmt: skip


def pair_brackets(nodes: Sequence[Node]) -> list[Node]:
    """Nodes of a row in which a pair of brackets is one node, which bears the scripts of its end.

    Raises:
        ValueError: A bracket has no partner.
    """
    paired: list[Node] = []
    place = 0
    while place < len(nodes):
        node = nodes[place]
        closing = _BRACKETS.get(node.text) if node.kind == "sign" else None
        if closing is None:
            if node.kind == "sign" and node.text in _BRACKETS.values():
                raise ValueError(f"no partner of {node.text}")
            paired.append(node)
            place += 1
            continue
        end = _find_partner(nodes, place, closing)
        inner = Node("row", "", tuple(nodes[place + 1 : end]))
        fence = Node("fence", f"{node.text} {closing}", (inner,))
        scripts = nodes[end].parts[1:] if nodes[end].kind == "script" else ()
        paired.append(Node("script", "", (fence, *scripts)) if scripts else fence)
        place = end + 1
    return paired


def _find_partner(nodes: Sequence[Node], place: int, closing: str) -> int:
    depth = 0
    for end in range(place + 1, len(nodes)):
        node = nodes[end].parts[0] if nodes[end].kind == "script" else nodes[end]
        if node is None or node.kind != "sign":
            continue
        if node.text == closing and depth == 0:
            return end
        depth += (node.text == nodes[place].text) - (node.text == closing)
    raise ValueError(f"no partner of {nodes[place].text}")
