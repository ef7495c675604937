"""Formulas of whole pages with the places of their characters."""

from __future__ import annotations

import pymupdf

from omibench.stages.ocr.engines.textlayer import read_lines


def test_a_glyph_larger_than_the_page_stays_in_the_text() -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 800), "S", fontname="symb", fontsize=800)
        page.insert_text((72, 700), "a=b", fontname="symb")
        text = " ".join(line.text for line in read_lines(page, 1))
    assert r"$\alpha=\beta$" in text
    assert "S" in text
