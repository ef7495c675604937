"""Fonts whose codes mean something else than the letters as which they are read."""

from __future__ import annotations

import pytest

from omibench.stages.ocr.formulas.symbols import identify, of_character, of_encoded


@pytest.mark.parametrize(
    ("font", "text", "latex"),
    [
        ("EuclidSymbol-Italic", "p", "\\pi"),
        ("EuclidSymbol", "D", "\\Delta"),
        ("EuclidSymbol", "\u00b4", "\\times"),
        ("EuclidSymbol", "\u00b5", "\\propto"),
        ("EuclidSymbol", "\u00bb", "\\approx"),
        ("EuclidSymbol", "\u00a2", "'"),
        ("EuclidSymbol", "\uf0b0", "^{\\circ}"),
        ("SymbolMT", "\uf070", "\\pi"),
        ("SymbolMT", "π", "\\pi"),
        ("SymbolMT", "×", "\\times"),
        ("Symbol,Italic", "q", "\\theta"),
        ("Symbol", "\uf8eb", "("),
        ("StandardSymbolsPS", "e", "\\varepsilon"),
        ("MTExtra", "\uf03d", "\\ll"),
        ("MTExtra", "\uf03b", "\\simeq"),
        ("MTExtra", "\uf03a", "\\sim"),
        ("MTExtra", "\uf065", "\\odot"),
        ("MT-Extra", "h", "\\hbar"),
        ("MTExtra", "r", "\\vec"),
        ("EuclidExtra", "\uf0a5", "\\mathbb{N}"),
        ("EuclidMathOne", "L", "\\mathcal{L}"),
        ("EuclidMathTwo", "\uf052", "\\mathbb{R}"),
        ("EuclidMathTwo", "\uf085", "\\geqslant"),
        ("EuclidFraktur", "g", "\\mathfrak{g}"),
        ("Wingdings-Regular", "\u00e0", "\\to"),
    ],
)
def test_a_code_is_what_the_font_prints(font: str, text: str, latex: str) -> None:
    assert identify(font, text).latex == latex


def test_symbol_prints_the_straight_phi_for_its_f() -> None:
    assert identify("SymbolMT", "f").latex == identify("SymbolMT", "φ").latex == "\\phi"
    assert identify("SymbolMT", "j").latex == identify("SymbolMT", "ϕ").latex == "\\varphi"


def test_every_letter_of_symbol_is_a_greek_one() -> None:
    latex = {identify("SymbolMT", chr(code)).latex for code in range(0x61, 0x7B)}
    assert len(latex) == 26
    assert all(name.startswith("\\") or name == "o" for name in latex)


def test_a_code_without_a_glyph_is_unknown() -> None:
    assert identify("MTExtra", "\uf02f").kind == "unknown"
    assert identify("MathematicalPi-One", "5").kind == "unknown"


def test_other_fonts_have_no_codes() -> None:
    for font in ("OpenSymbol", "SymbolicSans", "TimesNewRomanPSMT", "Wingdings3"):
        assert of_encoded(font, "p") is None
    assert of_encoded("SymbolMT", " ") is None
    assert identify("TimesNewRomanPSMT", "p").latex == of_character("p").latex
