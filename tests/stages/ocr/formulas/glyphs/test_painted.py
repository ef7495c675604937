"""Glyphs that a page paints, and lines of prose that hold all glyphs of a span."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from omibench.stages.ocr.formulas.painted_glyphs import (
    PaintedAt,
    PaintedGlyph,
    ProseLines,
    list_painted,
)

LINE = {"bbox": (72.0, 90.0, 300.0, 104.0), "spans": [{"text": "of a first kind"}]}


def span(text: str, x: float = 80.0, y: float = 100.0) -> dict[str, Any]:
    return {"chars": tuple((ord(c), 7, (x + 5 * k, y), ()) for k, c in enumerate(text))}


@pytest.mark.parametrize(
    ("painted", "is_held"),
    [
        (span("first"), True),
        (span("\ufb01rst"), True),  # the ligature of f and i
        (span("last"), False),
        (span("first", x=290), False),
        (span("first", y=120), False),
        (span(""), False),
    ],
)
def test_a_line_holds_a_span_in_its_box_that_has_only_its_characters(
    painted: dict[str, Any], is_held: bool
) -> None:
    assert ProseLines([LINE]).hold_all(painted) is is_held
    assert not ProseLines([]).hold_all(painted)


def test_glyphs_of_prose_are_left_out_and_the_others_keep_their_numbers() -> None:
    page = pymupdf.open().new_page()
    page.insert_text((72, 100), "A ball falls.")
    page.insert_text((72, 300), "x = 3")
    lines = [li for b in page.get_text("dict")["blocks"] for li in b["lines"]]
    every = list_painted(page)
    kept = list_painted(page, ProseLines(lines[:1]))
    assert "".join(glyph.text for glyph in every) == "A ball falls.x = 3"
    assert kept == every[-5:]


def painted(text: str, x: float, glyph_id: int = 5) -> PaintedGlyph:
    return PaintedGlyph(1, text, "F", 10.0, x, 70.0, glyph_id)


def test_of_two_glyphs_in_one_place_the_one_with_the_text_is_found() -> None:
    bar, arrow = painted("\ufffd", 50.0, 5), painted("→", 50.02, 6)
    places = PaintedAt([bar, arrow])
    assert places.find((50.02, 70.0), "→") is arrow
    assert places.find((50.0, 70.0), "7") is bar
