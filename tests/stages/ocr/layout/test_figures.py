"""Figures of drawn pages: each found whole with its labels, nothing that only looks like one."""

from __future__ import annotations

from collections.abc import Callable

import pymupdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stages.ocr.drawn import (
    Drawn,
    around,
    bars,
    circuit,
    curve,
    graph,
    paper,
    prose,
    stroke,
    table,
    text,
    tiles,
)

from glyphtex.marks import Box
from omibench.stages.ocr.layout.layout import Picture
from omibench.stages.ocr.structure.document import read_document

Draw = Callable[[pymupdf.Page, float, float], Box]
KINDS: dict[str, Draw] = {
    "graph": graph, "curve": curve, "circuit": circuit, "bars": bars, "tiles": tiles,
}  # fmt: skip
SLACK = 3.0
FAR = 16.0


def pictures(pdf: pymupdf.Document) -> list[Picture]:
    return [item for item in read_document(pdf).flow if isinstance(item, Picture)]


def is_whole(found: Box, drawn: Box) -> bool:
    """Whether a box holds all that was drawn and little else."""
    inside = found.grow(SLACK, SLACK)
    return (
        inside.x0 <= drawn.x0 and inside.y0 <= drawn.y0
        and inside.x1 >= drawn.x1 and inside.y1 >= drawn.y1
        and found.x0 > drawn.x0 - FAR and found.y0 > drawn.y0 - FAR
        and found.x1 < drawn.x1 + FAR and found.y1 < drawn.y1 + FAR
    )  # fmt: skip


def check(drawn: Drawn) -> list[Picture]:
    """Hold what is found to what was drawn; returns the pictures in the order drawn."""
    found = pictures(drawn.pdf)
    matched = [
        [p for p in found if p.page == page and is_whole(p.box, box)] for page, box in drawn.figures
    ]
    assert [len(hits) for hits in matched] == [1] * len(drawn.figures), (found, drawn.figures)
    assert len(found) == len(drawn.figures), (found, drawn.figures)
    return [hits[0] for hits in matched]


def alone(draw: Callable[[pymupdf.Page], list[Box]]) -> Drawn:
    """A page with what `draw` puts between two paragraphs."""

    def fill(page: pymupdf.Page) -> list[Box]:
        prose(page, 72)
        boxes = draw(page)
        prose(page, 600, number=2)
        return boxes

    return paper(fill)


@pytest.mark.parametrize("name", KINDS)
def test_a_figure_is_found_whole_with_its_labels(name: str) -> None:
    check(alone(lambda page: [KINDS[name](page, 150, 160)]))


@pytest.mark.parametrize("marks", ["abcd", "ABCD"])
@pytest.mark.parametrize("end", [") ", ". "])
def test_choices_right_below_a_figure_are_no_labels_of_it(marks: str, end: str) -> None:
    def fill(page: pymupdf.Page) -> list[Box]:
        box = graph(page, 150, 160)
        for k, mark in enumerate(marks):
            text(page, 152, box.y1 + 12 + 14 * k, f"{mark}{end}{k + 1} m/s", 10)
        return [box]

    check(alone(fill))


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(KINDS)), st.integers(100, 330)), min_size=1, max_size=3
    )
)
@settings(max_examples=15)
def test_figures_among_paragraphs_are_neither_split_nor_merged(
    drawn: list[tuple[str, int]],
) -> None:
    def fill(page: pymupdf.Page) -> list[Box]:
        boxes, y = [], prose(page, 72)
        for k, (kind, x) in enumerate(drawn, 2):
            boxes.append(KINDS[kind](page, x, y + 20))
            y = prose(page, boxes[-1].y1 + 14, number=k)
        return boxes

    found = check(paper(fill))
    assert found == sorted(found, key=lambda picture: picture.box.y0)


@given(
    st.sampled_from(["above", "below", "left", "corner"]),
    st.sampled_from([(4, 2), (4, 4), (5, 2), (5, 3), (3, 3)]),
    st.sampled_from(["curve", "graph"]),
)
@settings(max_examples=15)
def test_picture_choices_in_a_grid_are_one_each_in_row_order(
    place: str, shape: tuple[int, int], kind: str
) -> None:
    count, columns = shape
    offset = {"above": (25, -6), "below": (25, 92), "left": (-32, 38), "corner": (-34, 8)}[place]

    def fill(page: pymupdf.Page) -> list[Box]:
        boxes, y = [], prose(page, 72)
        for k in range(count):
            x, top = 110 + 400 / columns * (k % columns), y + 30 + 120 * (k // columns)
            text(page, x + offset[0], top + offset[1], f"({'ABCDE'[k]})")
            boxes.append((curve if kind == "curve" else graph)(page, x, top, 60))
        prose(page, max(box.y1 for box in boxes) + 30, number=2)
        return boxes

    found = check(paper(fill))
    assert [id(p) for p in pictures_in_flow(found)] == [id(p) for p in found]


def pictures_in_flow(found: list[Picture]) -> list[Picture]:
    return sorted(found, key=lambda p: (round(p.box.y0 / 40), p.box.x0))


def test_a_figure_over_both_columns_is_one() -> None:
    def fill(page: pymupdf.Page) -> list[Box]:
        for k in range(6):
            left = 60 + 250 * (k // 3)
            prose(page, 72 + 90 * (k % 3), number=k + 1, box=Box(left, 0, left + 225, 0))
        joined = stroke(page, (120, 470), (460, 470))
        box = around(curve(page, 120, 420, 100), joined, curve(page, 380, 420, 100))
        text(page, 200, 545, "Figure 1: A wide thing over both columns.", 9)
        for k in range(4):
            left = 60 + 250 * (k // 2)
            prose(page, 580 + 90 * (k % 2), number=k + 7, box=Box(left, 0, left + 225, 0))
        return [box]

    (picture,) = check(paper(fill))
    assert picture.number == "1"


def test_a_figure_beside_its_text_takes_no_text_in() -> None:
    def fill(page: pymupdf.Page) -> list[Box]:
        prose(page, 72, box=Box(72, 0, 330, 0))
        box = curve(page, 360, 80)
        prose(page, 300, number=2)
        return [box]

    check(paper(fill))


def test_tables_frames_rules_and_highlights_are_no_figures() -> None:
    def ruled(page: pymupdf.Page) -> list[Box]:
        prose(page, 72)
        table(page, 120, 160)
        table(page, 120, 300, shaded=True)
        table(page, 120, 440, shaded=True, cells=2)
        prose(page, 600, number=2)
        return []

    def framed(page: pymupdf.Page) -> list[Box]:
        stroke(page, (72, 60), (523, 60))
        prose(page, 72)
        text(page, 150, 170, "a + b")
        stroke(page, (145, 173), (185, 173))
        text(page, 155, 184, "c + d")
        text(page, 72, 220, "Answer:")
        stroke(page, (120, 222), (300, 222))
        page.draw_rect(pymupdf.Rect(70, 250, 100, 265), color=None, fill=(1, 1, 0))
        page.draw_rect(pymupdf.Rect(100, 250, 120, 265), color=None, fill=(1, 1, 0))
        text(page, 74, 262, "Note: x")
        page.draw_rect(pymupdf.Rect(72, 300, 523, 340))
        text(page, 90, 318, "G = 6.67e-11 N")
        text(page, 300, 318, "c = 3.00e8 m/s")
        page.draw_rect(pymupdf.Rect(72, 360, 523, 460))
        page.draw_rect(pymupdf.Rect(72, 500, 523, 560), radius=0.1, fill=(0.9, 0.9, 1))
        prose(page, 505, number=2, box=Box(80, 0, 515, 0))
        return []

    check(paper(ruled, framed))


def test_a_figure_in_the_frame_of_a_text_is_found_without_the_frame() -> None:
    def fill(page: pymupdf.Page) -> list[Box]:
        page.draw_rect(pymupdf.Rect(72, 68, 523, 420), radius=0.02, fill=(0.93, 0.93, 0.93))
        prose(page, 72, box=Box(80, 0, 515, 0))
        box = circuit(page, 150, 160)
        prose(page, 300, number=2, box=Box(80, 0, 515, 0))
        return [box]

    check(paper(fill))


def test_what_stands_on_every_page_is_no_figure() -> None:
    def fill(page: pymupdf.Page) -> list[Box]:
        pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 60), False)
        pixels.clear_with(90)
        page.insert_image(pymupdf.Rect(60, 20, 110, 60), pixmap=pixels)
        page.draw_circle((500, 40), 18)
        stroke(page, (480, 40), (520, 40))
        prose(page, 90)
        box = curve(page, 200 + 20 * page.number, 200)
        prose(page, 300, number=2)
        return [box]

    check(paper(fill, fill, fill))


@pytest.mark.parametrize("gap", [80, 40, 10])
def test_panels_under_one_caption_are_one_figure_that_knows_them(gap: float) -> None:
    def draw(page: pymupdf.Page) -> list[Box]:
        boxes = []
        for k, letter in enumerate("abc"):
            boxes.append(curve(page, 90 + (70 + gap) * k, 170))
            boxes.append(text(page, 118 + (70 + gap) * k, 255, f"({letter})", 9))
        text(page, 150, 275, "Figure 2: Three views of the body.", 9)
        return [around(*boxes)]

    (picture,) = check(alone(draw))
    assert picture.caption == "Figure 2: Three views of the body."
    assert [panel.label for panel in picture.panels] == ["a", "b", "c"]
    assert all(picture.box.holds(panel.box) for panel in picture.panels)
    assert not any(
        a.box.touches(b.box) for a in picture.panels for b in picture.panels if a is not b
    )


def test_captions_tell_figures_apart_that_stand_close() -> None:
    def draw(page: pymupdf.Page) -> list[Box]:
        boxes = [curve(page, 180, 150, 90), curve(page, 284, 150, 90)]
        text(page, 180, 255, "Figure 1: First.", 9)
        text(page, 290, 255, "Figure 2: Second.", 9)
        boxes += [graph(page, 200, 300, 60)]
        text(page, 180, 404, "Figure 3: Third.", 9)
        boxes += [graph(page, 200, 430, 60)]
        text(page, 180, 534, "Figure 4: Fourth.", 9)
        return boxes

    assert [picture.number for picture in check(alone(draw))] == ["1", "2", "3", "4"]


def test_a_page_that_is_stored_turned_is_read_as_it_is_shown() -> None:
    drawn = alone(lambda page: [graph(page, 150, 160)])
    stored = pymupdf.open()
    page = stored.new_page(width=842, height=595)
    page.show_pdf_page(page.rect, drawn.pdf, 0, rotate=90)
    page.set_rotation(90)
    check(Drawn(stored, drawn.figures))


def test_arrows_that_measure_a_figure_belong_to_it() -> None:
    def draw(page: pymupdf.Page) -> list[Box]:
        page.draw_rect(pymupdf.Rect(200, 190, 300, 250))
        stroke(page, (215, 215), (240, 205), width=3)
        return [
            around(
                Box(200, 190, 300, 250),
                stroke(page, (200, 180), (250, 180)), text(page, 212, 170, "2 m"),
                stroke(page, (260, 180), (300, 180)), text(page, 270, 170, "1 m"),
                stroke(page, (315, 190), (315, 250)), text(page, 325, 225, "20 cm"),
            )
        ]  # fmt: skip

    check(alone(draw))


def test_a_ruler_is_a_figure_and_an_empty_frame_with_its_sides_named_too() -> None:
    def ruler(page: pymupdf.Page) -> list[Box]:
        parts = [stroke(page, (150, 180), (400, 180))]
        for k in range(6):
            parts.append(stroke(page, (150 + 50 * k, 177), (150 + 50 * k, 183)))
            parts.append(text(page, 147 + 50 * k, 194, str(k), 8))
        page.draw_rect(pymupdf.Rect(200, 300, 340, 360))
        plate = around(
            Box(200, 300, 340, 360), text(page, 188, 333, "a"), text(page, 268, 372, "b")
        )
        return [around(*parts), plate]

    check(alone(ruler))


def test_a_figure_of_thousands_of_strokes_is_one_and_reaches_no_other() -> None:
    def draw(page: pymupdf.Page) -> list[Box]:
        box, other = Box(150, 160, 300, 280), curve(page, 400, 180)
        shape = page.new_shape()
        for k in range(2000):
            x, y = 151 + 7.1 * (k % 21), 161 + 1.2 * (k // 21)
            shape.draw_line((x, y), (x + 5, y + 2))
            shape.finish(width=0.3)
        shape.draw_line((150, 160), (150, 280))
        shape.draw_line((150, 280), (300, 280))
        shape.finish(width=0.5)
        shape.draw_line((-90_000, -50), (90_000, -50))
        shape.finish(width=0.5)
        shape.commit()
        return [box, other]

    check(alone(draw))
