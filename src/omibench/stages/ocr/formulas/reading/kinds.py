"""What units of a row are: mathematics for certain, or words, numbers, operators and brackets."""

from __future__ import annotations

import re
from typing import Literal

from omibench.stages.ocr.formulas.marks import Glyph, Kind
from omibench.stages.ocr.formulas.reading.units import RowUnit

Role = Literal[
    "math", "letter", "digit", "operator", "relation", "open", "close", "bar", "point", "other"
]
"""What a unit may be in a formula. `math` is one for certain; `point` is a full stop or comma."""

_MATH_FONT = re.compile(
    r"^(?:CM(?:MI|SY|EX|BSY|MIB)|LMMath|MS[AB]M|EU[RFSE][MBX]|rsfs|NewTXMI|NewPXMI|ntx(?:mia|sy|ex)|"
    r"tx(?:mi|sy|ex|b?mia)|px(?:mi|sy|ex)|nxlmi|zxl|stix|Euclid(?!-?(?:Bold)?$)|MT-?Extra|"
    r"MathJax_(?!Main)|KaTeX_(?!Main)|Symbol(?:MT)?\b)|Math(?!J)",
)
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff\u2126]")
_LETTERLIKE = frozenset("ℏħℓ∂∇∞∅ℵ℘ℜℑ∀∃ℂℍℕℙℚℝℤℬℰℱℋℐℒℳℛℭℌℨ")
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


def is_math_font(font: str) -> bool:
    """Whether a font holds mathematics by its name."""
    return _MATH_FONT.search(font) is not None


def role_of(unit: RowUnit, *, has_greek_prose: bool = False) -> Role:
    """What a unit may be.

    Args:
        unit: One of a row, its scripts attached.
        has_greek_prose: Whether the page has Greek words, so that a Greek letter tells nothing.
    """
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
    """The role of what is no letter of an alphabet; None for letters and prose punctuation."""
    kind, text = glyph.symbol.kind, glyph.text
    if text in _BARS:
        return "bar"
    if text in ".,":
        return "point"
    # What a font of words does not explain is no formula: a page of such is broken, and read anew.
    is_unexplained = text == "\ufffd" and kind == "unknown"
    if (is_unexplained or text in _QUOTES) and not is_math_font(glyph.font):
        return "other"
    if text in _LETTERLIKE or _ALPHABETS[0] <= text <= _ALPHABETS[1] or text == "\ufffd":
        return _ROLES.get(kind, "math")
    if kind == "accent":
        return "math" if is_math_font(glyph.font) else None
    return _ROLES.get(kind) or ("digit" if text.isdecimal() else None)


def is_variable(glyph: Glyph) -> bool:
    """Whether a letter is one of a font that sets variables alone."""
    if not is_math_font(glyph.font):
        return False
    return not glyph.symbol.upright or glyph.symbol.latex.startswith("\\")


def is_math_letter(glyph: Glyph) -> bool:
    """Whether a letter is one of mathematics by itself: by its font, alphabet or script."""
    if glyph.symbol.kind not in ("letter", "digit"):
        return False
    by_sign = _GREEK.match(glyph.text) or _role_by_sign(glyph) == "math"
    return is_math_font(glyph.font) or glyph.italic or bool(by_sign)


def is_hyphen(unit: RowUnit) -> bool:
    """Whether a unit is a hyphen of prose rather than a minus sign."""
    return not unit.is_block and unit.glyphs[0].text in _HYPHENS
