"""Lines of a page with replies about crops of their formulas."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from omibench.stages.ocr.formulas.marks import Formula, FormulaRegion, NextLine
from omibench.stages.ocr.formulas.rereading.crops import (
    CropDesk,
    CropReply,
    parse_crop_name,
    reply_file,
)
from omibench.stages.ocr.formulas.rereading.pages import MOST_CROPS, Rereader
from omibench.stages.ocr.layout.layout import Box, Line

BOX = Box(100, 90, 140, 112)


@pytest.fixture
def page() -> pymupdf.Page:
    page = pymupdf.open().new_page(width=300, height=200)
    page.draw_rect(pymupdf.Rect(BOX), fill=(0, 0, 0))
    return page


def doubtful(latex: str, box: Box = BOX) -> Formula:
    return Formula(FormulaRegion(box, ()), latex, ("a mark belongs to no part",))


def make_line(*formulas: Formula) -> Line:
    text = "so " + " and ".join(f"${formula.latex}$" for formula in formulas) + " hold"
    return Line(1, Box(50, 90, 250, 112), text, 10, formulas=formulas)


def answer(desk: CropDesk, text: str | None) -> None:
    """Give one reply to all crops that wait."""
    desk.replies.mkdir(exist_ok=True)
    for path in desk.waiting.iterdir():
        name = parse_crop_name(path.name)
        reply = CropReply(reader="r", text=text).model_dump_json()
        reply_file(desk.replies, name.kind, name.sha256).write_text(reply, "utf-8")


def reread(desk: CropDesk, page: pymupdf.Page, line: Line) -> Line:
    (found,) = Rereader(desk, 0).reread(page, 1, [line])
    return found


@pytest.fixture
def desk(tmp_path: Path) -> CropDesk:
    return CropDesk(tmp_path / "crops", tmp_path / "replies")


def test_a_doubtful_formula_waits_as_a_crop_and_is_settled_by_its_reply(
    page: pymupdf.Page, desk: CropDesk
) -> None:
    certain = Formula(FormulaRegion(Box(150, 90, 160, 112), ()), "y")
    line = make_line(certain, doubtful("a 2"))
    assert reread(desk, page, line) == line
    (file,) = desk.waiting.iterdir()
    assert (parse_crop_name(file.name)[:3], desk.count) == (("formula", 0, 1), 1)
    with Image.open(file) as crop:
        assert crop.size == (192, 117)
        assert crop.getpixel((0, 0)) == (255, 255, 255)
        assert crop.getpixel((96, 58)) == (0, 0, 0)
    answer(desk, "$a^2$")
    settled = reread(CropDesk(desk.waiting, desk.replies), page, line)
    assert settled.text == "so $y$ and $a^2$ hold"
    assert [formula.doubts for formula in settled.formulas] == [(), ()]
    assert settled.formulas[1].latex == "a^2"
    assert settled.differences == ()


def test_the_parts_of_a_broken_formula_are_asked_for_in_one_line(
    page: pymupdf.Page, desk: CropDesk
) -> None:
    second = NextLine(FormulaRegion(Box(20, 120, 60, 142), ()), 122.5, -30)
    region = FormulaRegion(BOX, (), following=(second,))
    reread(desk, page, make_line(Formula(region, "a+b", ("unsure",))))
    (file,) = desk.waiting.iterdir()
    with Image.open(file) as crop:
        width, height = crop.size
        assert (round(width * 72 / 300), round(height * 72 / 300)) == (88, 28)
        assert crop.getpixel((90, 58)) == (0, 0, 0)
        assert crop.getpixel((width - 20, 58)) == (255, 255, 255)


def test_a_formula_that_is_read_differently_stays_doubtful_and_is_named(
    page: pymupdf.Page, desk: CropDesk
) -> None:
    line = make_line(doubtful("a + 2"))
    reread(desk, page, line)
    answer(desk, "$a - 2$")
    compared = reread(desk, page, line)
    assert compared.text == line.text
    assert compared.formulas[0].doubts
    assert compared.differences[0].startswith("page 1, box (100, 90, 140, 112): the layer has")
    assert "signs" in compared.differences[0]


def test_a_reader_without_an_answer_leaves_the_doubt_and_is_not_asked_again(
    page: pymupdf.Page, desk: CropDesk
) -> None:
    line = make_line(doubtful("a"))
    reread(desk, page, line)
    answer(desk, None)
    again = CropDesk(desk.waiting, desk.replies)
    assert reread(again, page, line) == line
    assert again.count == 0


def test_a_flattened_line_of_a_scan_is_read_as_a_whole(page: pymupdf.Page, desk: CropDesk) -> None:
    box = Box(50, 90, 250, 112)
    line = Line(1, box, "where v0 = 3 m", 10, engine="rapidocr", math_suspect=True)
    assert reread(desk, page, line) == line
    answer(desk, "where $v_0 = 5$ m")
    found = reread(desk, page, line)
    assert (found.text, found.math_suspect) == ("where $v_0 = 5$ m", False)
    assert "3 and 5" in found.differences[0]


def test_a_page_has_a_most_of_crops_and_what_lies_outside_of_it_has_none(
    page: pymupdf.Page, desk: CropDesk
) -> None:
    lines = [make_line(doubtful("a", Box(k, 10, k + 9, 30))) for k in range(MOST_CROPS + 20)]
    Rereader(desk, 0).reread(page, 1, lines)
    assert desk.count == MOST_CROPS
    outside = CropDesk(desk.waiting, desk.replies)
    reread(outside, page, make_line(doubtful("a", Box(900, 10, 990, 30))))
    assert outside.count == 0


def test_a_place_that_is_cut_twice_is_one_file(page: pymupdf.Page, desk: CropDesk) -> None:
    for _ in range(2):
        reread(desk, page, make_line(doubtful("a")))
    assert len(list(desk.waiting.iterdir())) == 1
