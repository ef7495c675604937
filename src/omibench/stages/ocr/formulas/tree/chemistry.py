"""Chemical formulas and reactions in the notation of mhchem."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omibench.stages.ocr.formulas.tree.nodes import (
    Chemistry,
    LimitsNode,
    Node,
    Row,
    Script,
    Sign,
    Words,
)
from omibench.stages.ocr.formulas.tree.parts import PlacedPart

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
    sub = "" if script.sub is None else _plain(script.sub)
    charge = "" if script.sup is None else _charge(script.sup)
    left = _write_left_scripts(script)
    if sub is None or charge is None or left is None or (sub and not _COUNT.fullmatch(sub)):
        return None
    if base == "e" and not charge:
        return None
    return left + base + sub + charge


def _write_left_scripts(script: Script) -> str | None:
    mass = "" if script.left_sup is None else _plain(script.left_sup)
    number = "" if script.left_sub is None else _plain(script.left_sub)
    if (
        mass is None
        or number is None
        or not (mass + number).replace("-", "").isalnum() * bool(mass + number)
    ):
        return "" if mass == number == "" else None
    return (f"^{{{mass}}}" if mass else "") + (f"_{{{number}}}" if number else "")


def _charge(node: Node) -> str | None:
    text = _plain(node)
    match = _CHARGE.fullmatch(text) if text else None
    if not match:
        return None
    if match[2]:
        return f"^{match[1]}{match[2]}" if match[1] else match[2]
    return "^."


def _plain(node: Node) -> str | None:
    """Return digits, letters and signs in a row as text."""
    if isinstance(node, Sign):
        return node.latex
    if isinstance(node, Words):
        return node.text
    if isinstance(node, Row):
        texts = [_plain(child) for child in node.children]
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
    plain = _plain(node)
    return plain or ""
