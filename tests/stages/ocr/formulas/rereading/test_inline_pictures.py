"""Formulas that are small pictures in a line of text."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from omibench.stages.ocr.engines.textlayer import read_layer
from omibench.stages.ocr.formulas.rereading.asking import answer_crops
from omibench.stages.ocr.formulas.rereading.crops import CropDesk
from omibench.stages.ocr.formulas.rereading.pages import (
    ENGINE,
    PicturesRead,
    read_inline_pictures,
    read_picture,
)
from omibench.stages.ocr.layout.regions import find_regions

INLINE = (292, 48, 352, 64)


@pytest.fixture
def page() -> pymupdf.Page:
    """A line of text with a picture in its gap, and another picture far from text."""
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 16))
    picture.clear_with(90)
    page: pymupdf.Page = pymupdf.open().new_page(width=420, height=300)
    page.insert_text((30, 60), "1. A ball falls from the height h with the speed", fontsize=12)
    page.insert_text((360, 60), "at last.", fontsize=12)
    page.insert_image(INLINE, pixmap=picture)
    page.insert_image((40, 150, 200, 260), pixmap=picture, keep_proportion=False)
    return page


def read(page: pymupdf.Page, desk: CropDesk) -> PicturesRead:
    lines = read_layer(page, 1).lines
    return read_inline_pictures(page, 1, PicturesRead(lines, find_regions(page)), desk, 0)


def test_a_picture_in_a_line_is_asked_for_and_becomes_a_formula(
    page: pymupdf.Page, tmp_path: Path
) -> None:
    desk = CropDesk(tmp_path / "crops", tmp_path / "replies")
    before = read(page, desk)
    assert (desk.count, len(before.regions)) == (1, 2)
    answer_crops("m", lambda crops: [r"$v=\sqrt{2gh}$"] * len(crops), desk.waiting, desk.replies)
    after = read(page, desk)
    assert len(after.regions) == 1
    (line,) = (line for line in after.lines if line.engine == ENGINE)
    assert line.text == r"$v=\sqrt{2gh}$"
    assert line.formulas[0].latex == r"v=\sqrt{2gh}"
    assert line.baseline == pytest.approx(60, abs=1)


def test_a_reply_that_is_no_formula_leaves_the_picture(page: pymupdf.Page, tmp_path: Path) -> None:
    desk = CropDesk(tmp_path / "crops", tmp_path / "replies")
    read(page, desk)
    answer_crops("m", lambda crops: [r"$\square$"] * len(crops), desk.waiting, desk.replies)
    assert len(read(page, desk).regions) == 2


@pytest.mark.parametrize(
    ("reply", "latex"),
    [
        (r"$v_0$", "v_0"),
        (r"\[ \frac{1}{2} \]", r"\frac{1}{2}"),
        (r"v^2", "v^2"),
        (r"The formula is $v_0$.", ""),
        (r"$a\square b$", ""),
        ("", ""),
    ],
)
def test_only_a_formula_alone_is_used(reply: str, latex: str) -> None:
    assert read_picture(reply) == latex
