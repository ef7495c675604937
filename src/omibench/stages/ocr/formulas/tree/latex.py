"""Upright letters of a row: function names, units and text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatch

from omibench.stages.ocr.formulas.tree.nodes import (
    Accent,
    Chemistry,
    Fence,
    Fraction,
    GridNode,
    LimitsNode,
    Node,
    PlacedPart,
    Root,
    Row,
    Script,
    Sign,
    Words,
    join,
)

_FUNCTIONS_LIST = (
    "arccos arcsin arctan arg argmax argmin cos cosh cot coth csc deg det dim exp gcd hom inf "
    "ker lg lim liminf limsup ln log max min Pr sec sin sinh sup tan tanh arcctg arctg ctg tg "
    "sgn sign cosec rank tr Tr lcm mod erf arsinh arcosh artanh div grad rot curl"
)
FUNCTIONS = frozenset(_FUNCTIONS_LIST.split(" "))
_OPERATORS_LIST = (
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim "
    "liminf limsup ln log max min Pr sec sin sinh sup tan tanh arctg ctg tg"
)
OPERATORS = frozenset(_OPERATORS_LIST.split(" "))
"""Functions with a LaTeX and KaTeX command."""
_WORD_GAP = 0.16
"""Maximum gap between two letters of one word, in ems."""
_UNITS_LIST = (
    "m s g A K N J W V C F H T L h u Pa Hz kg km cm mm nm pm fm mol cd rad sr lm lx Wb eV keV "
    "MeV GeV kPa MPa GPa bar atm mL dm min kJ MJ GJ kW MW GW mW mA kV mV kHz MHz GHz kN mN ms "
    "ns ps yr pc kpc Mpc AU ly Ci Bq Gy Sv kcal cal ppm mmol au day Da kDa dB mg ml Torr mmHg "
    "ft lb gal mT nT nF pF mH"
)
_UNITS = frozenset(_UNITS_LIST.split(" "))


def join_words(parts: Sequence[PlacedPart]) -> list[PlacedPart]:
    """Combine neighbouring upright letters of one baseline into words, from left to right."""
    joined: list[PlacedPart] = []
    run: list[PlacedPart] = []
    for part in parts:
        if run and not _goes_on(run[-1], part):
            joined += _word(run)
            run = []
        if is_upright(part):
            run.append(part)
        else:
            joined.append(part)
    return [*joined, *(_word(run) if run else [])]


def is_upright(part: PlacedPart) -> bool:
    """Return whether a part is one roman letter."""
    node = part.node
    return isinstance(node, Sign) and node.upright and not node.bold and part.kind == "letter"


def _goes_on(last: PlacedPart, part: PlacedPart) -> bool:
    gap = part.box.x0 - last.box.x1
    return (
        is_upright(part)
        and gap < _WORD_GAP * part.size
        and abs(last.y - part.y) < 0.05 * part.size
        and abs(last.size - part.size) < 0.1 * part.size
    )


def _word(run: list[PlacedPart]) -> list[PlacedPart]:
    """Return a run of letters as words; touching names, as in `sin cos`, become separate words."""
    text = "".join(part.latex for part in run)
    plain = _plain(text)
    if plain in FUNCTIONS:
        return [join(run, Words(plain, "operator"), run[0], kind="letter")]
    for name in sorted(FUNCTIONS, key=len, reverse=True):
        rest = plain[len(name) :]
        if len(name) > 2 and plain.startswith(name) and len(plain) == len(run) and len(rest) <= 2:
            head = join(run[: len(name)], Words(name, "operator"), run[0], kind="letter")
            return [head, *_word(run[len(name) :])]
    is_unit = plain in _UNITS or len(plain) <= 2
    command = "\\mathrm" if is_unit else "\\text"
    return [join(run, Words(plain, command), run[0], kind="letter")]  # type: ignore[arg-type]


def _plain(text: str) -> str:
    """Return the letters without the `\\text{}` around those of other alphabets."""
    return text.replace("\\text{", "").replace("}", "")


# Chemical formulas and reactions in the notation of mhchem.

_ELEMENTS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As "
    "Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu "
    "Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np "
    "Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og"
)
_SYMBOLS = "|".join(
    sorted((*_ELEMENTS.split(" "), "D", "R", "Me", "Et", "Ph"), key=len, reverse=True)
)
_FORMULA = re.compile(rf"(?:{_SYMBOLS})+")
_STATES = {"s", "l", "g", "aq"}
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
_SIGNS = {"(": "(", ")": ")", "[": "[", "]": "]", "+": " + ", "=": " = ", ",": ", ", "\\cdot": "*"}
_OUTLETS = {"\\uparrow": " ^", "\\downarrow": " v"}


def as_chemistry(line: Sequence[PlacedPart]) -> Node | None:
    """Return the parts of a baseline as a chemical formula or reaction.

    Returns:
        None if a part cannot be chemistry, or nothing shows that it is: neither two bonded
        elements, a charge, an isotope, nor an arrow between formulas.
    """
    tokens = [_token(part.node) for part in line]
    if any(token is None for token in tokens):
        return None
    text = _tidy("".join(token for token in tokens if token is not None))
    return Chemistry(text) if _is_chemical(text) else None


def _tidy(text: str) -> str:
    return re.sub(r" +", " ", text).strip()


def _is_chemical(text: str) -> bool:
    """Return whether a text in mhchem's notation contains a molecule, an ion or an isotope."""
    bare = re.sub(r"\((?:s|l|g|aq)\)", "", text)
    for species in re.split(r" ?(?:->|<-|<=>|<->|\+ |=|\*)(?:\[[^\]]*\])* ?|\s", bare):
        core = re.sub(r"^\d+", "", species)
        if core in _ELECTRONS:
            return True
        if not re.search(r"[A-Z]", core):
            continue
        is_ion = re.search(r"[A-Za-z\d\])]\^?\d*[+-]$", core)
        atoms = re.findall(_SYMBOLS, re.sub(r"[\d^_{}+-]", " ", core))
        has_index = re.search(r"[A-Za-z\])]\d", core)
        if re.match(r"\^|_", core):
            continue  # a single isotope is written without mhchem as well
        if is_ion or core in _SELF_BOUND:
            return True
        if len(atoms) > 1 and has_index:
            return True
        if len(atoms) > 1 and re.search(r"->|<=>", text):
            return True
    return False


def _token(node: Node) -> str | None:
    """Return a node in mhchem's notation, or None if it cannot be part of it."""
    if isinstance(node, Words):
        if _FORMULA.fullmatch(node.text) or node.text in {*_STATES, "e"}:
            return node.text
        return None
    if isinstance(node, Sign):
        return _sign(node)
    if isinstance(node, Script):
        return _script(node)
    if isinstance(node, LimitsNode):
        return _arrow(node)
    return None


def _sign(sign: Sign) -> str | None:
    if sign.latex in _ARROWS:
        return f" {_ARROWS[sign.latex]} "
    if sign.kind == "digit" and sign.latex.isascii() and len(sign.latex) == 1:
        return sign.latex
    if sign.upright and (_FORMULA.fullmatch(sign.latex) or sign.latex in {"e", "s", "l", "g"}):
        return sign.latex
    return _SIGNS.get(sign.latex) or _OUTLETS.get(sign.latex)


def _script(script: Script) -> str | None:
    base = _token(script.base)
    if base is None or script.primes or not re.search(r"[A-Za-z)\]]$", base):
        return None
    sub = "" if script.sub is None else _plain_chemistry(script.sub)
    charge = "" if script.sup is None else _charge(script.sup)
    left = _write_left_scripts(script)
    if sub is None or charge is None or left is None or (sub and not _COUNT.fullmatch(sub)):
        return None
    if base == "e" and not charge:
        return None
    return left + base + sub + charge


def _write_left_scripts(script: Script) -> str | None:
    mass = "" if script.left_sup is None else _plain_chemistry(script.left_sup)
    number = "" if script.left_sub is None else _plain_chemistry(script.left_sub)
    if (
        mass is None
        or number is None
        or not (mass + number).replace("-", "").isalnum() * bool(mass + number)
    ):
        return "" if mass == number == "" else None
    return (f"^{{{mass}}}" if mass else "") + (f"_{{{number}}}" if number else "")


def _charge(node: Node) -> str | None:
    text = _plain_chemistry(node)
    match = _CHARGE.fullmatch(text) if text else None
    if not match:
        return None
    if match[2]:
        return f"^{match[1]}{match[2]}" if match[1] else match[2]
    return "^."


def _plain_chemistry(node: Node) -> str | None:
    """Return digits, letters and signs in a row as text."""
    if isinstance(node, Sign):
        return node.latex
    if isinstance(node, Words):
        return node.text
    if isinstance(node, Row):
        texts = [_plain_chemistry(child) for child in node.children]
        return None if None in texts else "".join(text or "" for text in texts)
    return None


def _arrow(limits: LimitsNode) -> str | None:
    if not isinstance(limits.base, Sign) or limits.base.latex not in _ARROWS:
        return None
    above = "" if limits.above is None else _label(limits.above)
    below = "" if limits.below is None else _label(limits.below)
    labels = f"[{above}][{below}]" if below else f"[{above}]" if above else ""
    return f" {_ARROWS[limits.base.latex]}{labels} "


def _label(node: Node) -> str:
    if isinstance(node, Chemistry):
        return node.text
    if isinstance(node, Words):
        return node.text
    if isinstance(node, Sign):
        return node.latex if node.upright or node.kind == "digit" else f"${node.latex}$"
    plain = _plain_chemistry(node)
    return plain or ""


# The tree of a formula as LaTeX, in the simplest form.


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
