"""Columns, rows, furniture, captions and figures on small pages."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from glyphtex.marks import Box
from omibench.stages.ocr.layout.figures import Typography, find_captions, find_pictures
from omibench.stages.ocr.layout.layout import Item, Line, Picture
from omibench.stages.ocr.layout.reading_order import (
    gutter,
    in_reading_order,
    rows,
    without_furniture,
)
from omibench.stages.ocr.layout.regions import Region

Maker = Callable[..., Line]
SETTING = Typography(10, 480)
TEXT = "some words of running text, long enough to fill a column"


def texts(items: list[Item]) -> list[str]:
    return [item.text for item in items if isinstance(item, Line)]


def two_columns(line: Maker) -> list[Line]:
    left = [line(f"L{k} {TEXT[:38]}", x=60, y=100 + 12 * k) for k in range(6)]
    right = [line(f"R{k} {TEXT[:38]}", x=310, y=100 + 12 * k) for k in range(6)]
    return left + right


def test_two_columns_are_read_one_after_the_other(line: Maker) -> None:
    lines = two_columns(line)
    middle = gutter([ln.box for ln in lines], 595)
    assert middle is not None
    title = line(f"T {TEXT}", x=120, y=60)
    ordered = texts(in_reading_order([*reversed(lines), title], middle))
    wanted = ["T", *(f"L{k}" for k in range(6)), *(f"R{k}" for k in range(6))]
    assert [text.split()[0] for text in ordered] == wanted


def test_the_right_column_has_indents_of_its_own(line: Maker) -> None:
    lines = two_columns(line)
    ordered = in_reading_order(lines, gutter([ln.box for ln in lines], 595))
    assert {item.indent for item in ordered if isinstance(item, Line)} == {0}


def test_one_column_with_short_lines_is_one_column(line: Maker) -> None:
    lines = [line(TEXT + TEXT[:30], y=100 + 12 * k) for k in range(8)]
    lines += [line("(A) x", y=220), line("(B) y", x=316, y=220)]
    assert gutter([ln.box for ln in lines], 595) is None


def test_pieces_of_a_fraction_belong_to_the_row_of_their_choice(line: Maker) -> None:
    marker, top, bottom = line("(A)", y=100), line("mv", x=82, y=93), line("R", x=84, y=107)
    below = line("(B) 2", y=125)
    found = rows([top, bottom, below, marker])
    assert [texts(row) for row in found] == [["(A)", "mv", "R"], ["(B) 2"]]
    ordered = in_reading_order([top, bottom, below, marker], None)
    assert [i.stacked for i in ordered if isinstance(i, Line)] == [True, True, True, False]


def set_page(line: Maker, text: str, page: int) -> tuple[list[Line], list[Line]]:
    """The lines of a page, and those that no `-` marks as furniture.

    Each row has the baseline, the left edge and the type size, then its text with `{p}`, the page,
    and `{c}`, a letter for it; `100+12*9` are nine lines, 12 points apart, numbered by `{n}`.
    """
    made, kept = [], []
    for row in text.split("\n"):
        place, _, words = row.strip().removeprefix("-").partition(" ")
        parts = place.split(",")
        y, x, size = [*parts, *("", "60", "10")[len(parts) :]]
        top, step, count = (int(n) for n in re.findall(r"\d+", f"{y}+0*1")[:3])
        for n in range(count):
            told = words.format(p=page, c="abcdef"[page], n=n, text=TEXT)
            made.append(line(told, x=int(x), y=top + step * n, page=page, size=int(size)))
            kept += [] if row.strip().startswith("-") else made[-1:]
    return made, kept


FULL = "-30 Olympiad 2026\n60 {}\n77+17*42 {{text}}\n791 {}\n-825 Test {{p}}"


@pytest.mark.parametrize(
    ("pages", "drawn", "text"),
    [
        (3, None,
         "-30,60,8 Olympiad 2026\n78 Problem {p}\n110 {text}\n-820,250,8 Page {p} of 3"),
        (2, None,
         "60,50 {p}\n60,74 A car moves along a road of kind {c}.\n100+14*20 text {n}\n"
         "-820,290 {p}"),
        (3, None, FULL.format("{p}. How long does pendulum {c} swing?", "D. {p} s")),
        (3, None, FULL.format("{p}) How long does pendulum {c} swing?", "（2）求时间。")),
        (3, None, FULL.format("body number {p} of those that swing", "(d) none of these")),
        (2, None, "40 {p}. How long does it swing?\n120+12*9 {text}"),
        (1, Box(60, 600, 300, 770),
         "100+12*4 {text}\n775,60,8 time (s)\n-810,60,8 CC BY 4.0"),
    ],
)  # fmt: skip
def test_running_heads_and_page_numbers_go_and_text_stays(
    line: Maker, pages: int, drawn: Box | None, text: str
) -> None:
    made = [set_page(line, text, page) for page in range(1, pages + 1)]
    boxes = [[drawn] if drawn else []] * pages
    kept = without_furniture([lines for lines, _ in made], [842.0] * pages, boxes)
    assert kept == [lines for _, lines in made]


def test_what_stands_elsewhere_on_each_page_is_no_furniture(line: Maker) -> None:
    pages = [set_page(line, f"{50 + 10 * p} mass {p}\n120+12*9 {{text}}", p)[0] for p in (1, 2)]
    assert without_furniture(pages, [842.0] * 2, [[]] * 2) == pages


def test_captions_of_several_lines_and_sentences_that_are_none(line: Maker) -> None:
    lines = [
        line("Figure 1: The nerve on", x=100, y=200, size=9, bold=True),
        line("its ruler.", x=127, y=211, size=9),
        line("Figure 2 shows a nerve.", y=240),
        line("图 3", y=300),
    ]
    found = find_captions(lines)
    assert [(c.number, c.text) for c in found] == [
        ("1", "Figure 1: The nerve on its ruler."), ("3", "图 3"),
    ]  # fmt: skip


def found(
    regions: list[Region], lines: list[Line]
) -> tuple[list[tuple[Box, str | None]], list[str]]:
    pictures, rest = find_pictures(1, regions, lines, find_captions(lines), SETTING)
    return [(p.box, p.number) for p in pictures], [ln.text for ln in rest]


def test_scattered_small_marks_above_a_caption_are_one_figure(line: Maker) -> None:
    dots = [
        Region(Box(x, y, x + 8, y + 8)) for x in range(100, 220, 20) for y in range(100, 180, 20)
    ]
    caption = line("Figure 1: Dots.", x=120, y=200, size=9)
    pictures, _ = found(dots, [caption])
    assert [number for _, number in pictures] == ["1"]
    assert found(dots, [])[0] == []


def test_a_caption_does_not_name_what_stands_behind_text(line: Maker) -> None:
    upper, lower = Region(Box(100, 100, 200, 180)), Region(Box(100, 260, 200, 340))
    lines = [line(TEXT * 2, y=210), line("Figure 1: Low.", x=110, y=356, size=9)]
    assert sorted((box.y0, number) for box, number in found([upper, lower], lines)[0]) == [
        (100, None), (260, "1"),
    ]  # fmt: skip


def test_pictures_side_by_side_keep_their_order_when_tops_differ(line: Maker) -> None:
    shown = [Picture(1, Box(x, y, x + 90, y + 80)) for x, y in ((300, 99), (60, 101), (180, 100))]
    ordered = in_reading_order([line("Which?", y=90), *shown], None)
    assert [item.box.x0 for item in ordered] == [60, 60, 180, 300]
