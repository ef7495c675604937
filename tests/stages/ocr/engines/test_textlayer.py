"""Lines of a text layer with their formulas, of pages that are drawn here."""

from __future__ import annotations

import pymupdf
import pytest

from glyphtex import pages
from glyphtex import text_layer as characters
from omibench.stages.ocr.engines import textlayer
from omibench.stages.ocr.engines.textlayer import read_layer, read_lines


@pytest.fixture
def page() -> pymupdf.Page:
    return pymupdf.open().new_page(width=400, height=300)


def put_fraction(page: pymupdf.Page, x: float, above: str, below: str) -> float:
    """A fraction at (x, 100) whose bar is on the axis of ten-point type; returns where it ends."""
    width = max(pymupdf.get_text_length(text, "tiro", 10) for text in (above, below))
    for text, y in ((above, 93.2), (below, 106.9)):
        left = x + (width - pymupdf.get_text_length(text, "tiro", 10)) / 2
        page.insert_text((left, y), text, fontname="tiro", fontsize=10)
    page.draw_line((x, 97.5), (x + width, 97.5), width=0.4)
    return x + width


def test_a_fraction_stands_in_the_line_of_its_words(page: pymupdf.Page) -> None:
    page.insert_text((50, 100), "it takes ", fontname="tiro", fontsize=10)
    start = 50 + pymupdf.get_text_length("it takes ", "tiro", 10)
    end = put_fraction(page, start, "v", "2g")
    page.insert_text((end, 100), " seconds", fontname="tiro", fontsize=10)
    (line,) = read_lines(page, 1)
    assert " ".join(line.text.split()).startswith("it takes $\\frac{")
    assert line.text.endswith("}$ seconds")
    assert len(line.formulas) == 1
    assert line.box.y0 < 90
    assert abs(line.baseline - 100) < 0.5


def test_dollars_of_prose_are_escaped_beside_formulas_alone(page: pymupdf.Page) -> None:
    page.insert_text((50, 50), "It costs $5 or $7.", fontname="tiro", fontsize=10)
    page.insert_text((50, 100), "For $5 one gets x", fontname="tiro", fontsize=10)
    end = 50 + pymupdf.get_text_length("For $5 one gets x", "tiro", 10)
    page.insert_text((end, 96), "2", fontname="tiro", fontsize=6)
    prose, mixed = read_lines(page, 1)
    assert prose.text == "It costs $5 or $7."
    assert mixed.text.startswith("For \\$5 one gets $")
    assert mixed.text.endswith("^{2}$")


def test_a_page_of_too_many_characters_is_read_without_formulas(
    page: pymupdf.Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_fraction(page, 50, "a", "b")
    assert not read_layer(page, 1).exceeds_limits
    for module in (characters, pages):
        monkeypatch.setattr(module, "MAX_CHARACTERS", 1)
    layer = read_layer(page, 1)
    assert layer.exceeds_limits
    assert [line.formulas for line in layer.lines] == [(), ()]


def test_no_text_holds_the_sign_that_stands_for_a_formula(page: pymupdf.Page) -> None:
    page.insert_text((50, 100), "plain words", fontname="tiro", fontsize=10)
    assert textlayer._FORMULA not in read_lines(page, 1)[0].text
