"""Symbols of characters whose names are false in one font."""

from __future__ import annotations

import pymupdf
import pytest

from omibench.stages.ocr.formulas.page_marks import Symbols
from omibench.stages.ocr.formulas.text_layer import Character
from omibench.stages.ocr.layout.layout import Box


@pytest.mark.parametrize(
    ("text", "font", "depth", "latex"),
    [
        ("\U0001d70d", "STIXTwoMath-Regular", 0.1, "\\sigma"),
        ("\U0001d70d", "STIXTwoMath-Regular", 2.0, "\\varsigma"),
        ("\U0001d70e", "STIXTwoMath-Regular", 2.0, "\\varsigma"),
        ("\U0001d70d", "XITSMath-Regular", 0.1, "\\varsigma"),
    ],
)
def test_a_sigma_is_final_in_stix_if_it_has_a_descender(
    text: str, font: str, depth: float, latex: str
) -> None:
    box = Box(10, 95, 15, 100 + depth)
    character = Character(0, text, font, 10.0, 10.0, 100.0, box)
    assert Symbols(pymupdf.open().new_page()).identify(character).latex == latex
