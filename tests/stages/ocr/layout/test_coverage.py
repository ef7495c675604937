"""Ink that is in no text, formula or figure is reported; rules, bullets and white boxes are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from glyphtex import page_marks
from glyphtex.marks import Box
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import OcrReport, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, read_typed_json
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.engines.textlayer import read_layer
from omibench.stages.ocr.layout.coverage import (
    UnreadInk,
    measure_coverage,
    note_unread,
    read_markings,
)
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.structure.document import read_document


def put_picture(page: pymupdf.Page, value: int) -> None:
    pixels = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 30, 12))
    pixels.set_rect(pixels.irect, (value,))
    page.insert_image(pymupdf.Rect(205, 190, 230, 201), pixmap=pixels)


def put_dark(page: pymupdf.Page) -> None:
    put_picture(page, 0)


def put_white(page: pymupdf.Page) -> None:
    put_picture(page, 255)


def put_outline(page: pymupdf.Page) -> None:
    points = [(205, 192), (209, 200), (213, 191), (217, 200), (221, 192), (225, 200)]
    page.draw_polyline(points, width=1)


def put_bullet(page: pymupdf.Page) -> None:
    page.draw_circle((207, 197), 1.5, fill=(0, 0, 0))


def put_rule(page: pymupdf.Page) -> None:
    page.draw_line((205, 202), (260, 202))


def draw(paint: Callable[[pymupdf.Page], None]) -> pymupdf.Document:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((72, 160), "1. What is the area of a square whose side is known?")
    page.insert_text((72, 200), "2. A ball has the speed              when it is thrown.")
    paint(page)
    return pdf


@pytest.mark.parametrize(
    ("paint", "what"),
    [
        (put_dark, "a picture of 25 x 10 points"),
        (put_outline, "a drawing of"),
        (put_white, ""),
        (put_bullet, ""),
        (put_rule, ""),
    ],
)
def test_ink_in_a_line_that_was_not_read_is_noted_at_the_line(
    paint: Callable[[pymupdf.Page], None], what: str
) -> None:
    document = read_document(draw(paint))
    noted = [line.unread for line in document.flow if isinstance(line, Line) and line.unread]
    assert document.codes == (["ink_unread"] if what else [])
    assert len(noted) == bool(what)
    assert all(what in place and place.startswith("page 1, box (") for (place,) in noted)


def test_the_problem_beside_unread_ink_has_a_warning(tmp_path: Path) -> None:
    draw(put_dark).save(tmp_path / "paper.pdf")
    read_papers([tmp_path / "paper.pdf"], tmp_path / "out", OcrParams(dpi=72))
    first, second = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert first.warnings == []
    (warning,) = second.warnings
    assert warning.code == "ink_unread"
    assert "a picture of" in warning.detail
    (page,) = read_jsonl(tmp_path / "out/pages.jsonl", PageText)
    (ink,) = page.unread
    assert "a picture of" in ink.what
    assert page.ink_read is not None
    assert 0.7 < page.ink_read < 0.95
    assert [line.ink_read is None for line in page.lines] == [True, False]
    (file,) = read_typed_json(tmp_path / "out/report.json", OcrReport).files
    percent = f"{int(page.ink_read * 1000) / 10} %"
    assert file.where["ink_unread"] == f"page 1 ({percent} of the ink was read)"


def test_a_glyph_that_the_text_layer_lacks_counts_as_ink() -> None:
    page = draw(put_dark)[0]
    line = Line(1, Box(72, 188, 340, 203), "2. A ball has the speed", 11)
    glyph = UnreadInk(Box(205, 190, 215, 200), "the glyph x")
    head = UnreadInk(Box(205, 10, 215, 20), "the glyph x")
    markings = read_markings(page, [], [glyph, head])
    share, (found, *others) = measure_coverage(page, markings, [], [], [line])
    assert (found.box, found.what) == glyph[:2]
    assert found.area == pytest.approx(100, abs=15)
    assert share < 0.97
    assert not others
    noted = note_unread(1, [line], [found], markings.ink)[id(line)]
    assert noted.unread == ("page 1, box (205, 190, 215, 200): the glyph x",)
    assert noted.ink_read is not None
    assert 0.3 < noted.ink_read < 0.9


@pytest.mark.parametrize(("limit", "is_partial"), [(2, True), (3, False)])
def test_a_page_with_more_drawings_than_are_looked_at_says_so(
    monkeypatch: pytest.MonkeyPatch, limit: int, is_partial: bool
) -> None:
    monkeypatch.setattr(page_marks, "MAX_DRAWINGS", limit)
    page = draw(lambda page: None)[0]
    for y in (300, 320, 340):
        page.draw_line((72, y), (90, y + 9))
    assert read_layer(page, 1).exceeds_limits == is_partial


def test_ink_in_a_wide_gap_of_a_row_is_noted_in_the_row() -> None:
    def paint(page: pymupdf.Page) -> None:
        page.insert_text((72, 400), "1. A ball falls from the roof with the speed", fontsize=12)
        page.insert_text((400, 400), "at last.", fontsize=12)
        picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 12))
        picture.clear_with(60)
        page.insert_image((335, 390, 375, 402), pixmap=picture)

    flow = read_document(draw(paint)).flow
    noted = [line for line in flow if isinstance(line, Line) and line.unread]
    assert [line.text for line in noted] == ["at last."]
