"""Upright letters of a row: function names, units and text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from glyphtex.marks import ELEMENTS, STATES, UNITS
from glyphtex.tree.nodes import (
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
from glyphtex.tree.parts import Part, join

_OPERATORS_LIST = (
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim "
    "liminf limsup ln log max min Pr sec sin sinh sup tan tanh arctg ctg tg"
)
OPERATORS = frozenset(_OPERATORS_LIST.split())
"""Functions with a LaTeX and KaTeX command."""
_OTHERS = (
    "argmax argmin arcctg sgn sign cosec rank tr Tr lcm mod erf arsinh arcosh artanh div grad rot "
    "curl"
)
FUNCTIONS = OPERATORS | frozenset(_OTHERS.split())
_WORD_GAP = 0.16
"""Maximum gap between two letters of one word, in ems."""


def join_words(parts: Sequence[Part]) -> list[Part]:
    """Combine neighbouring upright letters of one baseline into words, from left to right."""
    joined: list[Part] = []
    run: list[Part] = []
    for part in parts:
        if run and not _goes_on(run[-1], part):
            joined += _word(run)
            run = []
        if is_upright(part):
            run.append(part)
        else:
            joined.append(part)
    return [*joined, *(_word(run) if run else [])]


def is_upright(part: Part) -> bool:
    """Return whether a part is one roman letter."""
    node = part.node
    return isinstance(node, Sign) and node.upright and not node.bold and part.kind == "letter"


def _goes_on(last: Part, part: Part) -> bool:
    gap = part.box.x0 - last.box.x1
    return (
        is_upright(part)
        and gap < _WORD_GAP * part.size
        and abs(last.y - part.y) < 0.05 * part.size
        and abs(last.size - part.size) < 0.1 * part.size
    )


def _word(run: list[Part]) -> list[Part]:
    """Return a run of letters as words; touching names, as in `sin cos`, become separate words."""
    # Letters of other alphabets are in `\\text{}`.
    plain = "".join(part.latex for part in run).replace("\\text{", "").replace("}", "")
    if plain in FUNCTIONS:
        return [join(run, Words(plain, "operator"), run[0], kind="letter")]
    for name in sorted(FUNCTIONS, key=len, reverse=True):
        end = len(name)
        if end > 2 and plain.startswith(name) and end <= len(plain) == len(run) <= end + 2:
            head = join(run[:end], Words(name, "operator"), run[0], kind="letter")
            return [head, *_word(run[end:])]
    is_unit = plain in UNITS or len(plain) <= 2
    return [join(run, Words(plain, "\\mathrm" if is_unit else "\\text"), run[0], kind="letter")]


# Chemical formulas and reactions in the notation of mhchem.

_SYMBOLS = "|".join(sorted((*ELEMENTS.split(), "D", "R", "Me", "Et", "Ph"), key=len, reverse=True))
_FORMULA = re.compile(rf"(?:{_SYMBOLS})+")
_CHARGE = re.compile(r"(\d*)([+-])|\\bullet")
_COUNT = re.compile(r"[1-9]\d*|n|x|m")
_ELECTRONS = {"e-", "e+"}
_SELF_BOUND = {"H2", "N2", "O2", "F2", "Cl2", "Br2", "I2", "O3", "P4", "S8", "C60", "D2"}
"""Molecules of one element; any other letter with an index may be a variable."""
_ARROWS = {
    "\\to": "->",
    "\\rightarrow": "->",
    "\\longrightarrow": "->",
    "\\leftarrow": "<-",
    "\\longleftarrow": "<-",
    "\\leftrightarrow": "<->",
    "\\longleftrightarrow": "<->",
    "\\rightleftharpoons": "<=>",
    "\\leftrightharpoons": "<=>",
    "\\rightleftarrows": "<=>",
    "\\leftrightarrows": "<=>",
}
_SIGNS = {
    "(": "(", ")": ")", "[": "[", "]": "]", "+": " + ", "=": " = ", ",": ", ", "\\cdot": "*",
    "\\uparrow": " ^", "\\downarrow": " v",
}  # fmt: skip
_LETTERS = {"e", "s", "l", "g"}


def as_chemistry(line: Sequence[Part]) -> Node | None:
    """Return the parts of a baseline as a chemical formula or reaction.

    Returns:
        None if a part cannot be chemistry, or nothing shows that it is: neither two bonded
        elements, a charge, an isotope, nor an arrow between formulas.
    """
    tokens = []
    for part in line:
        token = _write_token(part.node)
        if token is None:
            return None
        tokens.append(token)
    text = re.sub(r" +", " ", "".join(tokens)).strip()
    return Chemistry(text) if _is_chemical(text) else None


def _is_chemical(text: str) -> bool:
    """Return whether a text in mhchem's notation contains a molecule, an ion or an isotope."""
    bare = re.sub(r"\((?:s|l|g|aq)\)", "", text)
    for species in re.split(r" ?(?:->|<-|<=>|<->|\+ |=|\*)(?:\[[^\]]*\])* ?|\s", bare):
        core = re.sub(r"^\d+", "", species)
        if core in _ELECTRONS:
            return True
        # A single isotope is written without mhchem as well.
        if not re.search(r"[A-Z]", core) or core[0] in "^_":
            continue
        is_ion = re.search(r"[A-Za-z\d\])]\^?\d*[+-]$", core)
        if is_ion or core in _SELF_BOUND:
            return True
        atoms = re.findall(_SYMBOLS, re.sub(r"[\d^_{}+-]", " ", core))
        has_index = re.search(r"[A-Za-z\])]\d", core)
        if len(atoms) > 1 and (has_index or re.search(r"->|<=>", text)):
            return True
    return False


def _write_token(node: Node) -> str | None:  # noqa: PLR0911 (a case for each node)
    """Return a node in mhchem's notation, or None if it cannot be part of it."""
    match node:
        case Words(text=text) if _FORMULA.fullmatch(text) or text in STATES | {"e"}:
            return text
        case Sign(latex=latex) if latex in _ARROWS:
            return f" {_ARROWS[latex]} "
        case Sign(latex=latex, kind="digit") if latex.isascii() and len(latex) == 1:
            return latex
        case Sign(latex=latex, upright=True) if _FORMULA.fullmatch(latex) or latex in _LETTERS:
            return latex
        case Sign(latex=latex):
            return _SIGNS.get(latex)
        case Script():
            return _write_species(node)
        case LimitsNode(base=Sign(latex=latex)) if latex in _ARROWS:
            above, below = _write_label(node.above), _write_label(node.below)
            labels = f"[{above}][{below}]" if below else f"[{above}]" if above else ""
            return f" {_ARROWS[latex]}{labels} "
    return None


def _write_species(script: Script) -> str | None:
    """Return an element or a molecule with its numbers, or None if it is not one."""
    base, sub, sup = _write_token(script.base), _write_plain(script.sub), _write_plain(script.sup)
    mass, number = _write_plain(script.left_sup), _write_plain(script.left_sub)
    if base is None or script.primes or not re.search(r"[A-Za-z)\]]$", base):
        return None
    if sub is None or sup is None or mass is None or number is None:
        return None
    is_numbered = (mass + number).replace("-", "").isalnum() or mass == number == ""
    charge = _CHARGE.fullmatch(sup)
    if not is_numbered or (sub and not _COUNT.fullmatch(sub)) or (sup and not charge):
        return None
    if base == "e" and not sup:
        return None
    left = (f"^{{{mass}}}" if mass else "") + (f"_{{{number}}}" if number else "")
    if charge and not charge[2]:
        sup = "^."
    elif charge and charge[1]:
        sup = f"^{sup}"
    return left + base + sub + sup


def _write_plain(node: Node | None) -> str | None:
    """Return digits, letters and signs in a row as text, or None if it has other nodes."""
    match node:
        case None:
            return ""
        case Sign(latex=text) | Words(text=text):
            return text
        case Row(children=children):
            texts = [_write_plain(child) for child in children]
            return None if None in texts else "".join(text or "" for text in texts)
    return None


def _write_label(node: Node | None) -> str:
    if isinstance(node, Chemistry):
        return node.text
    if isinstance(node, Sign) and not node.upright and node.kind != "digit":
        return f"${node.latex}$"
    return _write_plain(node) or ""


# The tree of a formula as LaTeX, in the simplest form.

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


def write_latex(node: Node) -> str:  # noqa: PLR0911, PLR0912 (a case for each node)
    """Return a tree as LaTeX that KaTeX renders, without dollar signs."""
    match node:
        case Sign(latex=latex, bold=True):
            return f"\\mathbf{{{latex}}}" if node.upright else f"\\boldsymbol{{{latex}}}"
        case Sign(latex=latex):
            return latex
        case Row(children=children):
            return join_latex(_write_row(children))
        case Script(base=base):
            left = _write_scripts(node.left_sub, node.left_sup)
            text = write_latex(base)
            if isinstance(base, Script | Row):
                text = f"{{{text}}}"
            right = "'" * node.primes + _write_scripts(node.sub, node.sup)
            return ("{}" if left else "") + left + text + right
        case Fraction(above=above, below=below):
            return f"\\frac{{{write_latex(above)}}}{{{write_latex(below)}}}"
        case Root(body=body, index=index):
            degree = f"[{write_latex(index)}]" if index else ""
            return f"\\sqrt{degree}{{{write_latex(body)}}}"
        case LimitsNode():
            return _write_limits(node)
        case Fence(body=body):
            left, right = f"\\left{node.left or '.'}", f"\\right{node.right or '.'}"
            return join_latex([left, write_latex(body), right])
        case Accent(command=command, body=body):
            return f"{command}{{{write_latex(body)}}}"
        case Words(text=text, command="operator"):
            return f"\\{text}" if text in OPERATORS else f"\\operatorname{{{text}}}"
        case Words(text=text, command=command):
            return f"{command}{{{text}}}"
        case GridNode(rows=rows, kind="binom"):
            return "\\binom" + "".join(f"{{{write_latex(row[0])}}}" for row in rows)
        case GridNode(rows=rows, kind=kind):
            lines = " \\\\ ".join(" & ".join(map(write_latex, row)) for row in rows)
            return f"\\begin{{{kind}}}{lines}\\end{{{kind}}}"
        case Chemistry(text=text):
            return f"\\ce{{{text}}}"


def _write_row(nodes: Iterable[Node]) -> list[str]:
    """Return nodes as LaTeX; consecutive words share one `\\text{}`."""
    written: list[str] = []
    last: Node | None = None
    for node in nodes:
        commands = {n.command for n in (node, last) if isinstance(n, Words)}
        is_text = isinstance(node, Words) and isinstance(last, Words) and "\\text" in commands
        if is_text and "operator" not in commands:
            words = written[-1][:-1].replace("\\mathrm{", "\\text{")
            written[-1] = f"{words} {_write_plain(node)}}}"
        else:
            written.append(write_latex(node))
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


def _write_scripts(sub: Node | None, sup: Node | None) -> str:
    below = f"_{{{write_latex(sub)}}}" if sub else ""
    return below + (f"^{{{write_latex(sup)}}}" if sup else "")


def _write_limits(node: LimitsNode) -> str:
    base = write_latex(node.base)
    above = write_latex(node.above) if node.above else ""
    below = write_latex(node.below) if node.below else ""
    kind = node.base.kind if isinstance(node.base, Sign) else ""
    if kind == "arrow":
        label = f"[{below}]" if node.below else ""
        return _LONG_ARROWS.get(base, "\\xrightarrow") + f"{label}{{{above}}}"
    if kind == "relation":
        over = f"\\overset{{{above}}}{{{base}}}" if node.above else base
        return f"\\underset{{{below}}}{{{over}}}" if node.below else over
    return base + _write_scripts(node.below, node.above)
