"""Fonts whose codes do not mean the Latin letters they appear as.

Symbol and the fonts of MathType (Euclid Symbol, MT Extra, Euclid Extra, Euclid Math One and Two,
Euclid Fraktur) come as private characters (U+F061), as Latin ones (`a`) or as the printed
character (`α`).
Sources: Adobe's Symbol encoding (PDF 32000-1, D.5), Design Science's tables of MTExtra and Euclid.
"""

from __future__ import annotations

import re
from functools import cache

from omibench.stages.ocr.formulas.fonts.characters import UNKNOWN, of_character
from omibench.stages.ocr.formulas.marks import GlyphSymbol

_SYMBOL = re.compile(r"(MT|Euclid|Standard)?[- ]?Symbols?(MT|PS|Std|Neu)?(?![a-z])", re.IGNORECASE)
_WINGDINGS = re.compile(r"Wingdings(?![- ]?[23])", re.IGNORECASE)
_FAMILIES = tuple(
    (re.compile(pattern, re.IGNORECASE), table, command)
    for pattern, table, command in (
        (r"(MT|Euclid)[- ]?Extra", "extra", ""),
        (r"Euclid[- ]?Math[- ]?One", "one", "\\mathcal"),
        (r"Euclid[- ]?Math[- ]?Two", "two", "\\mathbb"),
        (r"Euclid[- ]?Fraktur", "none", "\\mathfrak"),
        (r"(LT)?(MathematicalPi|UniversalGreek|MathPi)", "none", ""),
    )
)
"""Font name patterns, their code tables, and the alphabet of their letters. Symbol fonts on the
codes of letters and digits have no table: their glyphs are unknown.
"""
_MATHTYPE = re.compile(r"MT|Euclid", re.IGNORECASE)

_NOTHING = "\0"
_SYMBOL_ROWS = {
    0x20: " !∀#∃%&∋()∗+,−./0123456789:;<=>?",
    0x40: "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
    0x60: "\0αβχδεϕγηιφκλμνοπθρστυϖωξψζ{|}∼\0",
    0xA0: "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯\0",
    0xC0: "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓",
    0xE0: "◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\0⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭\0",
}
"""Printed form: `f` is the straight phi and `j` the curly one."""
_EXTRA_ROWS = {
    0x23: "\u0300\u0302\u0303\u0307\0⌣⌢",
    0x3A: "∼≃⊲≪⊳≫≜≙≐∐\0\0\0\0\0∩℧…⋯⋮⋰⋱∥∵∡∢\0∪△□▭▱↗↙\0↘↖\0",
    0x60: "‵↦↕⇕○⊙≻·ℏ\0\0\0ℓ∓\0∘≺↽\u20d7\u20d6\u20e1\0\u20d1",
    0x78: "⇁\0\0⏟⎵⏞⎴",
    0x80: "⇄⇄⇄⇌⇌⇌⇀↽",
    0xA1: "ℝℤℂℚℕ\0⟦⟧",
}
_EXTRA_SYMBOLS = {
    **dict.fromkeys((0x31, 0x32, 0x33, 0x34, 0x36, 0x37, 0x38), GlyphSymbol("\\brace", "piece")),
    **dict.fromkeys((0xB0, 0xB1, 0xB2), GlyphSymbol("\\widetilde", "accent")),
    **dict.fromkeys((0xB5, 0xB6, 0xB7), GlyphSymbol("\\widehat", "accent")),
}
_MATH_ONE_ROWS = {
    0x21: "⊖\0\0\0⊘", 0x82: "∖", 0x90: "⊢⊨\0\0⊣⊤", 0xA9: "≍≀", 0xB4: "↼\0\0⇁",
    0xE5: "⋆", 0xF1: "ϱϵ\0\0\0\0\0ȷϰ",
}  # fmt: skip
_MATH_TWO_ROWS = {0x84: "⩽⩾", 0xB0: "⪯⪰", 0xE2: "⊎", 0xF0: "⊏⊐⊔⊓⊑⊒"}
_WINGDINGS_ROWS = {0xDF: "←→↑↓", 0xE8: "→", 0xF3: "⇔"}
"""Word makes the Wingdings arrow from `-->`."""
_ADOBE_ROWS = {
    0xF8E5: "\0⏐⎯®©™⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭",
}
"""Adobe's private characters for the pieces of Symbol's brackets."""
_RIGHT_AS_THEY_ARE = frozenset("×÷¬µ·®©")
"""Latin-1 characters from a correct table of Symbol; in MathType's fonts they are codes."""
_PRINTED = {"φ": "ϕ", "ϕ": "φ"}
"""Symbol's glyphs for the two letters phi of Adobe's glyph list."""


def of_encoded(font: str, text: str) -> GlyphSymbol | None:
    """Return the symbol of a glyph of a font with a custom encoding.

    Args:
        font: Font name without the subset prefix.
        text: Character according to the PDF.

    Returns:
        Its symbol, of kind `unknown` if the font's table lacks the code; None for other fonts.
    """
    if not text.strip():
        return None
    if _SYMBOL.match(font):
        return _of_symbol(font, text)
    if _WINGDINGS.match(font):
        character = _table("wingdings").get(_code(text))
        return of_character(character) if character else None
    for family, table, command in _FAMILIES:
        if family.match(font):
            return (_letter(command, text) if command else None) or _look_up(table, text)
    return None


def _of_symbol(font: str, text: str) -> GlyphSymbol:
    if text in _PRINTED and not _MATHTYPE.match(font):
        return of_character(_PRINTED[text])
    if text in _RIGHT_AS_THEY_ARE and not _MATHTYPE.match(font):
        return of_character(text)
    if text in ("`", "\uf060", "\uf8e5"):
        return GlyphSymbol("\\sqrt", "piece")
    return _look_up("symbol", text)


def _look_up(table: str, text: str) -> GlyphSymbol:
    """Return the symbol of a code, or of a character outside all code tables."""
    if table == "extra" and _code(text) in _EXTRA_SYMBOLS:
        return _EXTRA_SYMBOLS[_code(text)]
    character = _table(table).get(_code(text))
    if character is None and ord(text[0]) > 0xFF:
        character = _table("adobe").get(ord(text[0]), text)
    return of_character(character) if character else UNKNOWN


def _letter(command: str, text: str) -> GlyphSymbol | None:
    """Return a letter that the font sets in a special alphabet."""
    letter = chr(_code(text))
    plain = letter.isascii() and letter.isalpha()
    return GlyphSymbol(f"{command}{{{letter}}}", "letter") if plain else None


def _code(text: str) -> int:
    """Return the font's code of a character that the PDF calls Latin or private; else 0."""
    point = ord(text[0])
    if 0xF000 <= point <= 0xF0FF:
        return point - 0xF000
    if point < 0x100:
        return point
    try:
        return text[0].encode("cp1252")[0]
    except UnicodeEncodeError:
        return 0


@cache
def _table(name: str) -> dict[int, str]:
    rows: dict[int, str] = {
        "symbol": _SYMBOL_ROWS,
        "extra": _EXTRA_ROWS,
        "one": _MATH_ONE_ROWS,
        "two": _MATH_TWO_ROWS,
        "wingdings": _WINGDINGS_ROWS,
        "adobe": _ADOBE_ROWS,
        "none": {},
    }[name]
    return {
        start + k: character
        for start, row in rows.items()
        for k, character in enumerate(row)
        if character != _NOTHING
    }
