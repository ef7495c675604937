"""Marked pixels of a page outside of given boxes are found; rules and panels are not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pymupdf
import pytest
from PIL import Image

from glyphtex.marks import Box
from omibench.stages.ocr.layout.coverage import PageInk, measure_coverage, read_markings, render_ink
from omibench.stages.ocr.layout.layout import Picture
from omibench.stages.ocr.layout.regions import find_regions
from omibench.stages.ocr.structure.document import read_document

DARK = (0.1, 0.1, 0.4)


def build_ink(rows: Sequence[str]) -> PageInk:
    mask = Image.new("1", (len(rows[0]), len(rows)))
    mask.putdata([255 if sign == "#" else 0 for row in rows for sign in row])
    return PageInk(mask.tobytes(), mask.size, 1.0)


def test_marked_pixels_in_no_box_are_grouped() -> None:
    ink = build_ink(["##" + 28 * "." + "##", *3 * [32 * "."], *12 * [32 * "."]])
    share, (patch,) = ink.find_rest([Box(0, 0, 1, 1)])
    assert share == 0.5
    assert (patch.box, patch.area) == (Box(28, 0, 32, 4), 2.0)
    assert ink.find_rest([Box(0, 0, 40, 1)]) == (1.0, [])
    assert ink.measure(Box(29, 0, 31, 3)) == 2.0


def test_a_box_without_an_end_is_cut_to_the_page() -> None:
    ink = build_ink(["####"])
    assert ink.measure(Box(1, -math.inf, math.inf, 0)) == 3.0
    assert ink.measure(Box(-9, 0, -2, 1)) == 0.0
    assert ink.measure(Box(math.nan, 0, math.nan, 1)) == 0.0


def test_a_page_without_ink_is_read() -> None:
    assert render_ink(pymupdf.open().new_page()).find_rest([]) == (1.0, [])


def test_long_strokes_are_rules_also_if_words_interrupt_them() -> None:
    ink = build_ink([20 * "#", *5 * ["#" + 19 * "."], "#####" + 15 * "."])
    share, (patch,) = ink.find_rest([Box(5, 0, 9, 0)])
    assert patch.area == 10.0  # the vertical stroke has only seven pixels
    assert share == pytest.approx(1 - 10 / 30)
    assert ink.find_rest([Box(5, 0, 9, 0)], [Box(0, 0, 31, 9)]).share == 0


def draw_outlines(page: pymupdf.Page) -> None:
    """Draw a text as paths."""
    source = pymupdf.open().new_page(width=60, height=20)
    source.insert_text((2, 14), "v=3/4 m")
    picture = pymupdf.open(stream=source.get_svg_image().encode(), filetype="svg")
    page.show_pdf_page(
        pymupdf.Rect(190, 188, 250, 208), pymupdf.open("pdf", picture.convert_to_pdf())
    )


def put_image(page: pymupdf.Page) -> None:
    """Put a picture of text into the middle of a line."""
    source = pymupdf.open().new_page(width=60, height=20)
    source.insert_text((2, 14), "v=3/4 m")
    page.insert_image((190, 188, 240, 204), pixmap=source.get_pixmap(dpi=150))


def draw_ticks(page: pymupdf.Page) -> None:
    """Draw a sign as separate short strokes, each too simple to be text."""
    for k in range(4):
        page.draw_line((200 + 9 * k, 300 + 9 * k), (207 + 9 * k, 307 + 9 * k), width=1.5)


def draw_frames(page: pymupdf.Page) -> None:
    page.draw_rect((60, 140, 500, 170))
    page.draw_rect((60, 240, 500, 270), dashes="[3 2] 0")
    page.draw_rect((60, 140, 500, 370), radius=0.1)
    page.draw_line((60, 255), (500, 255), dashes="[1 3] 0")


def draw_panels(page: pymupdf.Page) -> None:
    page.draw_rect((60, 140, 500, 170), fill=DARK, color=DARK, overlay=False)
    page.draw_rect((60, 180, 500, 210), fill=(0.7, 0.7, 0.7), color=None, overlay=False)


def draw_underlines(page: pymupdf.Page) -> None:
    page.draw_line((72, 203), (78, 203))
    page.draw_squiggle((90, 203), (180, 203))


def add_watermark(page: pymupdf.Page) -> None:
    page.draw_circle((300, 400), 60, color=(0.85, 0.85, 0.85), fill=(0.9, 0.9, 0.9))
    page.add_freetext_annot((190, 300, 260, 320), "v = 3")


@pytest.mark.parametrize(
    ("paint", "is_unread"),
    [
        (draw_outlines, True),
        (put_image, True),
        (draw_frames, False),
        (draw_panels, False),
        (draw_underlines, False),
        (add_watermark, False),
    ],
)
def test_pages_with_ink_that_was_not_read_are_flagged(
    paint: Callable[[pymupdf.Page], None], is_unread: bool
) -> None:
    page = pymupdf.open().new_page()
    page.insert_text((72, 160), "1. What is the area of a square whose side is known?")
    page.insert_text((72, 200), "2. A ball has the speed              when it is thrown.")
    paint(page)
    (sheet,) = read_document(pymupdf.open(stream=page.parent.tobytes())).pages
    assert sheet.codes == ["ink_unread"] * is_unread
    assert sheet.ink_read is not None
    assert (sheet.ink_read < 0.97) == is_unread
    assert all(190 <= ink.box.x0 <= ink.box.x1 <= 240 for ink in sheet.unread)


def test_a_large_picture_counts_if_it_is_in_no_figure() -> None:
    page = pymupdf.open().new_page()
    page.insert_text((72, 160), "1. Which colour does the picture have?")
    box = Box(100, 200, 220, 300)
    pixels = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 60, 50))
    pixels.set_rect(pixels.irect, (0,))
    page.insert_image(pymupdf.Rect(*box), pixmap=pixels)
    regions = find_regions(page)
    markings = read_markings(page, [], [], regions)
    assert markings.ink.measure(box) == 0
    figure = Picture(1, box)
    assert measure_coverage(page, markings, regions, [figure], []) == (1.0, [])
    share, (found,) = measure_coverage(page, markings, regions, [], [])
    assert found.what == "a picture of 120 x 100 points"
    assert found.area == pytest.approx(12_000, rel=0.03)
    assert share < 0.05
