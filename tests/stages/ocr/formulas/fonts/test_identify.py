"""Glyphs of many fonts, and what they mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.formulas.symbols import identify

UNKNOWN = "\ufffd"


@pytest.mark.parametrize(
    ("font", "text", "name", "latex", "kind"),
    [
        ("CMMI10", "a", "a", "a", "letter"),
        ("CMMI10", "ε", "epsilon1", r"\epsilon", "letter"),
        ("CMMI10", "ε", "epsilon", r"\varepsilon", "letter"),
        ("CMMI10", "⃗", "vector", r"\vec", "accent"),
        ("CMSY10", "A", "A", r"\mathcal{A}", "letter"),
        ("CMSY10", "√", "radical", r"\sqrt", "root"),
        ("CMSY10", "−", "minus", "-", "operator"),
        ("CMEX10", UNKNOWN, "parenleftBig", "(", "open"),
        ("CMEX10", UNKNOWN, "bracerightbigg", r"\}", "close"),
        ("CMEX10", "\uf8f1", "bracelefttp", r"\{", "piece"),
        ("CMEX10", UNKNOWN, "radicalBigg", r"\sqrt", "root"),
        ("CMEX10", UNKNOWN, "radicalvertex", r"\sqrt", "piece"),
        ("CMEX10", UNKNOWN, "summationdisplay", r"\sum", "large"),
        ("LMMathExtension10-Regula", UNKNOWN, "integraltext", r"\int", "large"),
        ("MSBM10", "R", "R", r"\mathbb{R}", "letter"),
        ("EUFM10", "g", "g", r"\mathfrak{g}", "letter"),
        ("EURM10", "x", "x", "x", "letter"),
        ("rsfs10", "L", "L", r"\mathscr{L}", "letter"),
        ("CMBX10", "F", "F", r"\mathbf{F}", "letter"),
        ("CMMIB10", "F", "F", r"\boldsymbol{F}", "letter"),
        ("NewTXMI", "𝑥", "u1D465", "x", "letter"),
        ("txexs", "∑", "summationdisplay.1", r"\sum", "large"),
        ("txexs", UNKNOWN, "hat4", r"\widehat", "accent"),
        ("txsyb", "R", "R", r"\mathbb{R}", "letter"),
        ("STIXTwoMath", "(", "parenleft.s5", "(", "open"),
        ("STIXTwoMath", "√", "uni221A.s4", r"\sqrt", "root"),
        ("XITSMath", "𝜖", None, r"\epsilon", "letter"),
        ("XITSMath", "𝜀", None, r"\varepsilon", "letter"),
        ("NewCMMath-Book", "𝔤", None, r"\mathfrak{g}", "letter"),
        ("NewCMMath-Book", "⎛", None, "(", "piece"),
        ("LiberationSerif-Italic", "x", "x", "x", "letter"),
        ("OpenSymbol", "∮", None, r"\oint", "large"),
        ("Arial", "²", None, "^{2}", "digit"),
        ("Arial", "½", None, r"\frac{1}{2}", "letter"),
        ("Arial", "\ufe00", None, "", "space"),
        ("Arial", UNKNOWN, None, r"\square", "unknown"),
        ("F17", UNKNOWN, "summationdisplay", r"\sum", "large"),
    ],
)
def test_a_glyph_is_known(font: str, text: str, name: str | None, latex: str, kind: str) -> None:
    symbol = identify(font, text, name=name)
    assert (symbol.latex, symbol.kind) == (latex, kind)


@pytest.mark.parametrize(
    ("font", "text", "upright"),
    [
        ("CMR10", "s", True),
        ("CMMI10", "s", False),
        ("EURM10", "s", False),
        ("CMTI10", "s", False),
        ("LMRoman10-Regular", "s", True),
        ("LiberationSerif", "s", True),
        ("LiberationSerif-Italic", "s", False),
        ("XITSMath", "𝑠", False),
        ("XITSMath", "s", True),
        ("CMR10", "7", False),
    ],
)
def test_roman_letters_are_told_from_variables(font: str, text: str, upright: bool) -> None:
    assert identify(font, text).upright is upright


@given(
    st.sampled_from(["CMMI10", "CMEX10", "MSBM10", "STIXTwoMath", "Arial", ""]),
    st.characters(),
    st.none() | st.text(max_size=12) | st.from_regex(r"u(ni)?[0-9A-F]{4,6}", fullmatch=True),
)
def test_whatever_a_font_says_there_is_a_symbol(font: str, text: str, name: str | None) -> None:
    symbol = identify(font, text, name=name)
    assert symbol.latex or symbol.kind in {"space", "piece"}
