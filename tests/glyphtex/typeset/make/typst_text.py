# ruff: noqa: E501 (sources of Typst stand on lines of their own)
"""Papers as sources of Typst."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Final

from tests.glyphtex.typeset.make.documents import Block, Paper, Printed
from tests.glyphtex.typeset.make.tex import count_choices, read_colour
from tests.glyphtex.typeset.make.tree import FormulaReader, Node, merge_digits

from glyphtex.latex.signs import COMMANDS

FONTS: Final = {
    "newcm": ("New Computer Modern", "New Computer Modern Math"),
    "libertinus": ("Libertinus Serif", "STIX Two Math"),
}
"""Text and mathematics of each choice of fonts."""
Colours = dict[str, tuple[int, int, int]]
_BLACK: Final = (0, 0, 0)
"""Of formulas that break: Typst spaces a coloured one and one without a colour differently."""
FOLDERS: Final = ("/usr/share/texlive/texmf-dist/fonts/opentype/public",)
SIGNS: Final = {command: sign for sign, command in COMMANDS.items() if command != r"\|"} | {
    r"\to": "→", r"\le": "≤", r"\ge": "≥", r"\mid": "∣", r"\oplus": "⊕", r"\odot": "⊙",
    r"\hbar": "ℏ", r"\setminus": "∖", r"\phi": "ϕ", r"\varphi": "φ", r"\epsilon": "ϵ", r"\varepsilon": "ε",
    r"\bigcup": "⋃", r"\sum": "∑", r"\prod": "∏", r"\int": "∫", r"\oint": "∮", r"\{": r"\{", r"\}": r"\}", r"\parallel": "∥", r"\|": "‖", r"\sim": "∼",
    r"\vert": "|", r"\Omega": "Ω", r"\mu": "μ", r"\Delta": "Δ", r"\perp": "⊥", r"\star": "⋆",
    r"\cdot": "⋅", r"\rightarrow": "→", r"\ldots": "…", r"\cdots": "⋯", r"\uparrow": "↑",
    r"\leq": "≤", r"\geq": "≥", r"\leftarrow": "←", r"\leftrightarrow": "↔", r"\Rightarrow": "⇒",
    r"\Leftrightarrow": "⇔", r"\mapsto": "↦", r"\Sigma": "Σ", r"\triangle": "△", r"\varsigma": "ς",
}  # fmt: skip
_ESCAPED: Final = {"/": r"\/", "*": "∗", "(": r"\(", ")": r"\)", "[": r"\[", "]": r"\]", "|": r"\|",
                   ",": r"\,", ":": ":", "-": "-", "!": "!", "<": "<", ">": ">", ";": r"\;"}  # fmt: skip
_ACCENTS: Final = {
    r"\vec": "arrow", r"\hat": "hat", r"\bar": "overline", r"\dot": "dot", r"\ddot": "dot.double",
    r"\tilde": "tilde", r"\overline": "overline", r"\underline": "underline",
    r"\overrightarrow": "arrow",
}  # fmt: skip
_FONTS: Final = {r"\mathbf": "upright(bold(%s))", r"\mathcal": "cal(%s)", r"\mathbb": "bb(%s)"}


def write_formula(latex: str) -> str:
    """A formula in the markup of Typst."""
    return _write(FormulaReader(latex).read())


def _write(node: Node | None) -> str:
    if node is None:
        return ""
    return _WRITERS[node.kind](node)


def _write_row(node: Node) -> str:
    """Side by side, with no space at a text: Typst would print it."""
    text = ""
    for piece in filter(None, (_write(part) for part in merge_digits(node.parts))):
        is_text = piece.startswith('"') or text.endswith('"')
        text += piece if is_text else f" {piece}"
    return text.strip()


def _write_sign(node: Node) -> str:
    if node.text in SIGNS:
        return SIGNS[node.text]
    if node.text.startswith("\\"):
        raise ValueError(f"no sign for {node.text}")
    return _ESCAPED.get(node.text, node.text)


def _write_script(node: Node) -> str:
    base, below, above = node.parts
    text = _write(base) or '""'
    text = f"{text}_({_write(below)})" if below else text
    return f"{text}^({_write(above)})" if above else text


def _write_fence(node: Node) -> str:
    opening, closing = (_write_sign(Node("sign", sign)) for sign in node.text.split())
    return f"lr({opening} {_write(node.parts[0])} {closing})"


def _write_table(node: Node) -> str:
    rows = [[_write(cell) for cell in row.parts] for row in node.parts if row]
    if node.text == "cases":
        return f"cases({', '.join(' & '.join(row) for row in rows)})"
    if node.text == "aligned":
        return " \\ ".join(" & ".join(row) for row in rows)
    delimiter = {"pmatrix": "(", "bmatrix": "[", "vmatrix": "|"}[node.text]
    return f'mat(delim: "{delimiter}", {"; ".join(", ".join(row) for row in rows)})'


_WRITERS: Final = {
    "row": _write_row,
    "sign": _write_sign,
    "text": lambda node: f'"{node.text}"',
    "space": lambda _: "thin",
    "script": _write_script,
    "fraction": lambda node: f"frac({_write(node.parts[0])}, {_write(node.parts[1])})",
    "binomial": lambda node: f"binom({_write(node.parts[0])}, {_write(node.parts[1])})",
    "root": lambda node: (
        f"root({_write(node.parts[1])}, {_write(node.parts[0])})"
        if node.parts[1]
        else f"sqrt({_write(node.parts[0])})"
    ),
    "accent": lambda node: f"{_ACCENTS[node.text]}({_write(node.parts[0])})",
    "font": lambda node: _FONTS[node.text] % _write(node.parts[0]),
    "fence": _write_fence,
    "table": _write_table,
}


def write_typst(paper: Paper, fonts: str, *, colour: bool) -> str:
    """The source of a paper; in colour each formula has one of its own."""
    text, mathematics = FONTS[fonts]
    head = (
        f'#set document(date: none)\n#set page(paper: "a4", margin: 2.2cm, numbering: "1")\n#set text(font: "{text}", size: 11pt, hyphenate: false)\n'
        f'#show math.equation: set text(font: "{mathematics}")\n#set par(justify: true)\n'
    )
    numbers = enumerate(paper.list_formulas(), 1)
    colours = {part.id: read_colour(n) if colour else _BLACK for n, part in numbers}
    if not (colour or paper.is_justified):
        colours = {}
    bodies = []
    for layout, blocks in paper.sections:
        body = "\n\n".join(_write_block(block, colours, layout) for block in blocks)
        bodies.append(f"#columns(2)[\n{body}\n]" if layout == "two" else body)
    return head + "\n#pagebreak()\n".join(bodies) + "\n"


def _write_block(block: Block, colours: Colours, layout: str) -> str:
    label = f"*{re.sub('[.]', chr(92) + '.', block.label)}* " if block.label else ""
    if block.kind == "heading":
        return f"*#text(13pt)[{block.parts[0]}]*"
    if block.kind == "display":
        (formula,) = block.parts
        assert isinstance(formula, Printed)
        display = _colour(f"$ {write_formula(formula.latex)} $", formula, colours)
        if formula.number is None:
            return display
        return f"#grid(columns: (1fr, auto, 1fr), align: (left, center, right + horizon), [], [{display}], [({formula.number})])"
    texts = [
        _colour(f"${write_formula(part.latex)}$", part, colours)
        if isinstance(part, Printed)
        else _escape(part)
        for part in block.parts
    ]
    if block.kind == "choices":
        per_row = count_choices(block, layout)
        cells = ", ".join(
            f"[({letter}) {text}]" for letter, text in zip("ABCD", texts, strict=True)
        )
        return f"#grid(columns: (1fr,) * {per_row}, row-gutter: 8pt, {cells})"
    return label + "".join(texts)


def _colour(markup: str, formula: Printed, colours: Colours) -> str:
    if formula.id not in colours:
        return markup
    return f"#text(fill: rgb{colours[formula.id]})[{markup}]"


def _escape(text: str) -> str:
    return text.replace("$", r"\$")


def run_typst(source: str, folder: Path) -> Path:
    """Typeset a source."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "paper.typ").write_text(source, "utf-8")
    import_module("typst").compile(
        str(folder / "paper.typ"),
        output=str(folder / "paper.pdf"),
        font_paths=list(FOLDERS),
        timestamp=0,
    )
    return folder / "paper.pdf"
