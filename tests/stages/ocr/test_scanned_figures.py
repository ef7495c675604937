"""Figures of scanned pages: found in the pixels as in the drawing, whatever reads the text."""

from __future__ import annotations

import numpy as np
import pymupdf
import pytest
from tests.stages.ocr.drawn import Drawn, paper, prose, table, text
from tests.stages.ocr.layout.test_figures import KINDS, alone, is_whole

from glyphtex.marks import Box
from omibench.stages.ocr.engines.textlayer import read_lines
from omibench.stages.ocr.layout.layout import Picture
from omibench.stages.ocr.layout.scans import Scanned
from omibench.stages.ocr.structure.document import read_document


class Knowing:
    """Reads scans of a paper that it has the text of, as a perfect engine would."""

    def __init__(self, pdf: pymupdf.Document) -> None:
        self.lines = [read_lines(page, page.number + 1) for page in pdf]

    def __call__(self, page: pymupdf.Page, number: int) -> Scanned:
        return Scanned(self.lines[number - 1], "knowing")


def scanned(pdf: pymupdf.Document, seed: int = 7) -> pymupdf.Document:
    """A paper as pictures of its pages at 150 dpi, grey towards one corner and noisy."""
    scan, noise = pymupdf.open(), np.random.default_rng(seed)
    for page in pdf:
        pixels = page.get_pixmap(dpi=150, colorspace=pymupdf.csGRAY)
        grey = np.frombuffer(pixels.samples, np.uint8).reshape(pixels.height, pixels.width)
        shade = np.linspace(1.0, 0.75, pixels.width)[None, :]
        noisy = np.clip(grey * shade + noise.normal(0, 5, grey.shape), 0, 255).astype(np.uint8)
        image = pymupdf.Pixmap(pymupdf.csGRAY, pixels.width, pixels.height, noisy.tobytes(), False)
        sheet = scan.new_page(width=page.rect.width, height=page.rect.height)
        sheet.insert_image(sheet.rect, pixmap=image)
    return scan


def check(drawn: Drawn) -> list[Picture]:
    document = read_document(scanned(drawn.pdf), Knowing(drawn.pdf))
    found = [item for item in document.flow if isinstance(item, Picture)]
    matched = [
        [p for p in found if p.page == page and is_whole(p.box, box)] for page, box in drawn.figures
    ]
    assert [len(hits) for hits in matched] == [1] * len(drawn.figures), (found, drawn.figures)
    assert len(found) == len(drawn.figures), (found, drawn.figures)
    return found


@pytest.mark.parametrize("name", KINDS)
def test_a_drawn_figure_is_found_in_its_scan(name: str) -> None:
    check(alone(lambda page: [KINDS[name](page, 150, 160)]))


def test_picture_choices_of_a_scan_are_one_each() -> None:
    def draw(page: pymupdf.Page) -> list[Box]:
        boxes = []
        for k, letter in enumerate("ABCDE"):
            x, y = 110 + 200 * (k % 2), 160 + 120 * (k // 2)
            text(page, x - 34, y + 8, f"({letter})")
            boxes.append(KINDS["graph"](page, x, y))
        return boxes

    check(alone(draw))


def test_tables_and_frames_of_a_scan_are_no_figures() -> None:
    def ruled(page: pymupdf.Page) -> list[Box]:
        prose(page, 72)
        table(page, 120, 160)
        table(page, 120, 300, shaded=True)
        prose(page, 600, number=2)
        return []

    def framed(page: pymupdf.Page) -> list[Box]:
        prose(page, 72)
        page.draw_rect(pymupdf.Rect(72, 200, 523, 300))
        page.draw_rect(pymupdf.Rect(72, 395, 523, 460))
        prose(page, 400, number=2, box=Box(80, 0, 515, 0))
        return []

    check(paper(ruled, framed))


def test_figures_of_a_scan_with_hidden_text_are_found_without_an_engine() -> None:
    drawn = alone(lambda page: [KINDS["circuit"](page, 150, 160)])
    scan = scanned(drawn.pdf)
    for line in read_lines(drawn.pdf[0], 1):
        scan[0].insert_text(
            (line.box.x0, line.baseline), line.text, fontsize=line.size, render_mode=3
        )
    document = read_document(scan)
    assert [page.engine for page in document.pages] == ["textlayer"]
    (picture,) = [item for item in document.flow if isinstance(item, Picture)]
    assert is_whole(picture.box, drawn.figures[0][1])


def test_a_logo_on_each_page_of_a_scan_is_no_figure() -> None:
    def fill(page: pymupdf.Page) -> list[Box]:
        page.draw_circle((500 + page.number, 42 + page.number), 18, fill=(0.2, 0.2, 0.6))
        prose(page, 90)
        box = KINDS["curve"](page, 200 + 20 * page.number, 200)
        prose(page, 400, number=2)
        return [box]

    check(paper(fill, fill, fill))


def test_faint_axes_of_a_scan_belong_to_their_figure() -> None:
    def draw(page: pymupdf.Page) -> list[Box]:
        page.draw_rect(pymupdf.Rect(150, 160, 300, 280), color=(0.7, 0.7, 0.7), width=0.8)
        for k in range(5):
            text(page, 130, 164 + 29 * k, f"{10 + k}", 8)
        KINDS["curve"](page, 220, 190)
        return [Box(130, 158, 300, 280)]

    check(alone(draw))
