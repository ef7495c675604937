"""Pages without text: turned, levelled, and their readings made lines."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stages.ocr.engines.pages import Scripted, reading

from omibench.stages.ocr.engines.engine import Reading
from omibench.stages.ocr.layout.scans import (
    build_lines,
    choose_scale,
    evenly_set,
    measure_skew,
    read_locally,
    render_page,
    turn_content,
    turned_point,
    turned_reading,
)
from omibench.stages.ocr.structure.document import read_document


def scan(text: str = "ink", turn: int = 0) -> pymupdf.Document:
    """A PDF of one page that is a picture, with a dark square in its top left corner."""
    pdf = pymupdf.open()
    page = pdf.new_page(width=200, height=300)
    pixels = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 200, 300))
    pixels.clear_with(255)
    pixels.set_rect(pymupdf.IRect(10, 10, 40, 40), (0,))
    page.insert_image(page.rect, pixmap=pixels)
    page.set_rotation(turn)
    return pdf


def leaning(text: str, degrees: float) -> Reading:
    return turned_reading(reading(text, 10, 100), degrees, (50.0, 100.0))


@given(st.floats(-40, 40), st.floats(-500, 500), st.floats(-500, 500))
def test_a_turn_and_its_opposite_cancel(degrees: float, x: float, y: float) -> None:
    there = turned_point((x, y), degrees, (7.0, -3.0))
    assert math.dist(turned_point(there, -degrees, (7.0, -3.0)), (x, y)) < 1e-6


@given(st.floats(-30, 30))
def test_skew_is_that_of_the_long_lines(degrees: float) -> None:
    lines = [leaning("a long line of words to read", degrees), leaning("ab", 44.0)]
    assert measure_skew(lines) == pytest.approx(degrees, abs=1e-6)
    assert measure_skew([]) == 0


def test_a_skewed_page_is_levelled_with_its_lines() -> None:
    engine = Scripted(leaning("a long line of words to read", 2.0))
    pdf = scan()
    found = read_locally(engine, pdf[0], 1)
    assert found.turn == pytest.approx(-2.0)
    assert found.engine == "scripted"
    (line,) = found.lines
    assert line.box.height < 20
    assert (line.page, line.engine, line.confidence) == (1, "scripted", 0.99)


@pytest.mark.parametrize(("degrees", "where"), [(10, 47.8), (0, 25), (-5, 14.4)])
def test_turned_content_turns_clockwise_about_the_middle(degrees: float, where: float) -> None:
    pdf = scan()
    turn_content(pdf[0], degrees)
    pixels = render_page(pdf[0], 1.0)
    dark = np.argwhere(pixels[:, :, 0] < 100)
    assert dark[:, 1].mean() == pytest.approx(where, abs=3)


def test_a_page_on_its_side_is_read_as_it_stands_upright() -> None:
    engine = Scripted(reading("Some words that stand here", 10, 10), side=90)
    pdf = scan()
    found = read_locally(engine, pdf[0], 1)
    assert found.turn == 90
    assert (round(pdf[0].rect.width), round(pdf[0].rect.height)) == (300, 200)
    assert [shape[0] < shape[1] for shape in engine.shown] == [True]


def test_a_huge_page_is_not_rendered_in_full() -> None:
    pdf = pymupdf.open()
    page = pdf.new_page(width=14_000, height=200)
    assert choose_scale(page) * 14_000 == pytest.approx(3400)


def test_formulas_that_were_flattened_are_marked() -> None:
    said = ["v0 rises", "10-3 of it", "m = 10 kg", "a plain line", "√2 times", "in 2021-2022."]
    lines = build_lines([reading(text, 10, 40 * k) for k, text in enumerate(said)], 1, 0.36, "x")
    assert [line.math_suspect for line in lines] == [True, True, False, False, True, False]
    whole = build_lines([reading("v0 rises", 10, 10, whole=True)], 1, 0.36, "x")
    assert not whole[0].math_suspect


def test_lines_of_a_scan_are_set_in_one_size_and_headings_are_not() -> None:
    pages = [
        build_lines([reading("some words of a page", 10, y, height)], 1, 0.36, "x")
        for y, height in ((10, 20), (50, 22), (90, 21), (130, 40))
    ]
    sizes = [line.size for lines in evenly_set(pages) for line in lines]
    assert len(set(sizes[:3])) == 1
    assert sizes[3] > 1.5 * sizes[0]


def test_a_page_that_nobody_could_read_says_so() -> None:
    pdf = pymupdf.open()
    pdf.new_page()
    document = read_document(pdf, partial(read_locally, Scripted()))
    assert document.codes == ["page_unread"]
    assert read_document(pdf).codes == ["page_needs_ocr"]


def test_a_problem_says_that_its_formula_may_have_been_flattened() -> None:
    from omibench.stages.ocr.sources.manifest import Source
    from omibench.stages.ocr.structure.assemble import Crops, to_problems
    from omibench.stages.ocr.structure.drafts import Draft

    drafts = []
    for number, text in (("1", "What is the speed v0 of the ball?"), ("2", "And where is it?")):
        items = build_lines([reading(text, 10, 10)], 1, 0.36, "rapidocr")
        drafts.append(Draft(number, [1], list(items), [], None, None))
    source = Source(name="x", paper="x.pdf", language="en")
    problems, _ = to_problems(drafts, source, "0" * 64, Crops({}, {}), frozenset())
    assert [list(map(str, p.warnings)) for p in problems] == [
        ["math_suspect: rapidocr may have flattened a formula"], [],
    ]  # fmt: skip
