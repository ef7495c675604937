"""Words that identify formulas: function names, units, ordinals, chemical elements."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from glyphtex.marks import Glyph, Kind

if TYPE_CHECKING:
    from glyphtex.tree.parts import Part

_FUNCTIONS = """
    sin cos tan cot sec csc sen tg ctg arcsin arccos arctan arctg sinh cosh tanh coth log ln lg
    exp lim max min sup inf det dim ker deg arg gcd lcm mod grad div rot curl tr sgn Re Im Pr
"""
_UNITS = """
    m s g A K N J W V C F H T L l h d u b kg mg km cm mm dm nm pm fm ms ns ps min mol cd Hz kHz
    MHz GHz Pa kPa MPa hPa GPa bar atm kJ MJ GJ mJ kW MW GW mW kV mV MV kN mN MN mA kA mC nC pC
    nF pF mF mH mT nT eV keV MeV GeV rad sr ml mL cal kcal Wb Bq Sv Gy Ci ly pc kpc Mpc AU ua UA
    au yr ano sec day rpm lm lx Da kDa dB mmol ppm Torr mmHg ft lb gal Ω kΩ MΩ \u2126 k\u2126
    M\u2126 Å μm μs μC μF μA μV μg µm µs µC µF µA µV µg µT µL μL
"""
_ORDINALS = "st nd rd th o a os as er e ere re eme ème º ª ᵒ to ta do da"
ELEMENTS = """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se
    Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb
    Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm
    Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og
"""
_RARE = frozenset(["No", "Es", "Ds", "Mc", "Md", "Mt", "Ts"])
"""Elements whose symbols are words or abbreviations of prose."""
FUNCTIONS = frozenset(_FUNCTIONS.split())
UNITS = frozenset(_UNITS.split())
_NAMES = "sin cos tan cot csc sen tg ctg arcsin arccos arctan arctg sinh cosh tanh coth log ln exp"
WITH_ARGUMENT = frozenset(_NAMES.split())
"""Functions that need an argument: nothing ends with their names."""
ORDINALS = frozenset(_ORDINALS.split())
NAMES = frozenset(("const", "pH", "pOH"))
"""Words that represent a quantity next to a relation."""
STATES = frozenset(("s", "l", "g", "aq"))
"""States of matter after a chemical formula."""
_COMMON = "|".join(symbol for symbol in ELEMENTS.split() if symbol not in _RARE)
_CHEMICAL = re.compile(rf"[(\[]?(?:(?:{_COMMON}|HA)\d{{0,2}}|[()\[\]]\d{{0,2}}|e)+")


def is_chemical(text: str) -> bool:
    """Return whether a text, scripts written as plain digits, consists of element symbols."""
    return _CHEMICAL.fullmatch(text) is not None


AXIS = 0.25
"""Height of the mathematical axis above the baseline, in type sizes: fraction bars, minus signs and
the middles of brackets lie on it (Computer Modern .25, STIX .26, Cambria Math .28).
"""

# Roles of units in a row: certain mathematics, or words, numbers, operators and brackets.

Role = Literal[
    "math", "letter", "digit", "operator", "relation", "open", "close", "bar", "point", "other"
]
"""Role of a unit. `math` is certainly mathematics; `point` is a full stop or comma."""

_MATH_FONT = re.compile(
    r"^(?:CM(?:MI|SY|EX|BSY|MIB)|LMMath|MS[AB]M|EU[RFSE][MBX]|rsfs|NewTXMI|NewPXMI|ntx(?:mia|sy|ex)|"
    r"tx(?:mi|sy|ex|b?mia)|px(?:mi|sy|ex)|nxlmi|zxl|stix|Euclid(?!-?(?:Bold)?$)|MT-?Extra|"
    r"MathJax_(?!Main)|KaTeX_(?!Main)|Symbol(?:MT)?\b)|Math(?!J)",
)
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff\u2126\u2206]")
_LETTERLIKE = frozenset("△ℏħℓ∂∇∞∅ℵ℘ℜℑ∀∃ℂℍℕℙℚℝℤℬℰℱℋℐℒℳℛℭℌℨ")
_ALPHABETS = ("\U0001d400", "\U0001d7cb")
_HYPHENS = "-‐‑"
_QUOTES = "'’‘`´"
_BARS = "|∣‖∥"
_ROLES: dict[Kind, Role] = {
    "large": "math",
    "root": "math",
    "piece": "math",
    "prime": "math",
    "open": "open",
    "close": "close",
    "operator": "operator",
    "relation": "relation",
    "arrow": "relation",
    "digit": "digit",
}


@lru_cache(maxsize=4096)
def is_math_font(font: str) -> bool:
    """Return whether a font is mathematical by its name."""
    return _MATH_FONT.search(font) is not None


def is_sign_font(font: str) -> bool:
    """Return whether a font sets mathematics, including LibreOffice's font of signs."""
    return is_math_font(font) or font.startswith("OpenSymbol")


def role_of(unit: Part, *, has_greek_prose: bool = False) -> Role:
    """Return the role of a unit.

    Args:
        unit: Unit of a row, its scripts attached.
        has_greek_prose: Whether the page has Greek words, so that Greek letters prove nothing.
    """
    if unit.is_object:
        return "other"
    if unit.is_block:
        return "relation" if unit.kind in ("relation", "arrow") else "math"
    glyph = unit.glyphs[0]
    by_sign = _role_by_sign(glyph)
    if by_sign:
        return by_sign
    if _GREEK.match(glyph.text):
        return "letter" if has_greek_prose else "math"
    if glyph.symbol.kind == "letter":
        return "math" if is_variable(glyph) else "letter"
    return "letter" if glyph.text.isalpha() else "other"


def _role_by_sign(glyph: Glyph) -> Role | None:
    """Return the role of a character outside alphabets; None for letters and prose punctuation."""
    kind, text = glyph.symbol.kind, glyph.text
    if text in _BARS:
        return "bar"
    if text in ".,":
        return "point"
    # A symbol that a text font does not explain is not a formula: the page is broken, read again.
    is_unexplained = text == "\ufffd" and kind == "unknown"
    if (is_unexplained or text in _QUOTES) and not is_math_font(glyph.font):
        return "other"
    if text in _LETTERLIKE or _ALPHABETS[0] <= text <= _ALPHABETS[1] or text == "\ufffd":
        return _ROLES.get(kind, "math")
    if kind == "accent":
        return "math" if is_math_font(glyph.font) else None
    return _ROLES.get(kind) or ("digit" if text.isdecimal() else None)


def is_variable(glyph: Glyph) -> bool:
    """Return whether a letter's font sets variables only."""
    if not is_math_font(glyph.font):
        return False
    return not glyph.symbol.upright or glyph.symbol.latex.startswith("\\")


def is_math_letter(glyph: Glyph) -> bool:
    """Return whether a letter is mathematics by its font, alphabet or script."""
    if glyph.symbol.kind not in ("letter", "digit"):
        return False
    by_sign = _GREEK.match(glyph.text) or _role_by_sign(glyph) == "math"
    return is_math_font(glyph.font) or glyph.italic or bool(by_sign)


def is_hyphen(unit: Part) -> bool:
    """Return whether a unit is a hyphen of prose rather than a minus sign."""
    return not unit.is_block and unit.text in _HYPHENS
