"""Columns, rows, furniture, captions and figures on small pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from omibench.stages.ocr.layout.figures import Typography, find_captions, find_pictures
from omibench.stages.ocr.layout.layout import Box, Item, Line, Picture
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


def test_running_heads_and_page_numbers_go_and_text_stays(line: Maker) -> None:
    pages = [
        [
            line("Olympiad 2026", y=30, page=p, size=8),
            line(TEXT, y=110, page=p),
            line(f"Problem {p}", y=78, page=p),
            line(f"Page {p} of 3", x=250, y=820, page=p, size=8),
        ]
        for p in (1, 2, 3)
    ]
    kept = without_furniture(pages, [842] * 3, [[]] * 3)
    assert [[ln.text[:3] for ln in page] for page in kept] == [
        [TEXT[:3], "Pro"], [TEXT[:3], "Pro"], [TEXT[:3], "Pro"],
    ]  # fmt: skip


def test_the_number_of_a_problem_in_the_margin_is_no_page_number(line: Maker) -> None:
    pages = [
        [
            line(str(k), x=50, y=60, page=k),
            line(f"A car moves along a road of kind {'abc'[k]}.", x=74, y=60, page=k),
            *(line(f"text {n}", y=100 + 14 * n, page=k) for n in range(20)),
            line(str(k + 1), x=290, y=820, page=k),
        ]
        for k in (1, 2)
    ]
    kept = without_furniture(pages, [842.0] * 2, [[], []])
    assert [[i.text for i in lines[:1]] for lines in kept] == [["1"], ["2"]]
    assert [len(lines) for lines in kept] == [22, 22]


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("{}. How long does pendulum {} swing?", "D. {} s"),
        ("{}) How long does pendulum {} swing?", "（2）求时间。"),
        ("body number {} of those that swing", "(d) none of these"),
    ],
)
def test_text_that_reaches_to_the_edge_of_each_page_is_no_furniture(
    line: Maker, first: str, last: str
) -> None:
    pages = [
        [
            line("Olympiad 2026", y=30, page=p),
            line(first.format(p, 3 * p), y=60, page=p),
            *(line(TEXT, y=77 + 17 * n, page=p) for n in range(42)),
            line(last.format(p), y=791, page=p),
            line(f"Test {p}", y=825, page=p),
        ]
        for p in (1, 2, 3)
    ]
    kept = without_furniture(pages, [842.0] * 3, [[]] * 3)
    assert [[i.text for i in page] for page in kept] == [
        [i.text for i in page[1:-1]] for page in pages
    ]


def test_what_stands_elsewhere_on_each_page_or_opens_a_problem_is_no_furniture(line: Maker) -> None:
    pages = [
        [
            line(f"{p}. How long does it swing?", y=40, page=p),
            line(f"mass {p}", y=50 + 10 * p, page=p),
            *(line(TEXT, y=120 + 12 * n, page=p) for n in range(9)),
        ]
        for p in (1, 2)
    ]
    assert without_furniture(pages, [842.0] * 2, [[]] * 2) == pages


def test_a_single_page_loses_its_foot_but_no_label_of_a_figure(line: Maker) -> None:
    label, foot = line("time (s)", y=775, size=8), line("CC BY 4.0", y=810, size=8)
    page = [*(line(TEXT, y=100 + 12 * k) for k in range(4)), label, foot]
    kept = without_furniture([page], [842], [[Box(60, 600, 300, 770)]])
    assert label in kept[0]
    assert foot not in kept[0]


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
