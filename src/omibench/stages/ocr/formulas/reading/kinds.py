"""Roles of units in a row: certain mathematics, or words, numbers, operators and brackets."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from omibench.stages.ocr.formulas.marks import Glyph, Kind
from omibench.stages.ocr.formulas.reading.units import RowUnit

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


def role_of(unit: RowUnit, *, has_greek_prose: bool = False) -> Role:
    """Return the role of a unit.

    Args:
        unit: Unit of a row, its scripts attached.
        has_greek_prose: Whether the page has Greek words, so that Greek letters prove nothing.
    """
    if unit.is_object:
        return "other"
    if unit.is_block:
        return "math"
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


def is_hyphen(unit: RowUnit) -> bool:
    """Return whether a unit is a hyphen of prose rather than a minus sign."""
    return not unit.is_block and unit.text in _HYPHENS
