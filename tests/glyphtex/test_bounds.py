"""Pages made to be slow: what is compared grows with the page, not with its square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pymupdf
import pytest
from tests.glyphtex.set_type import Setting, read_formulas

from glyphtex import formula_doubts, page_marks, regions, rows
from glyphtex.marks import Levels
from glyphtex.page_marks import find_drawn
from glyphtex.pages import search_page
from glyphtex.regions import place_regions
from glyphtex.rows import form_rows
from glyphtex.tree import bars, build_row
from glyphtex.tree.bars import Bar, Prose
from glyphtex.tree.parts import Doubts, Field, Neighbours, Part, part_of_glyph


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], list[int]]:
    """Counts the calls of a function of a module."""

    def count_calls(module: Any, name: str) -> list[int]:
        function, calls = getattr(module, name), [0]

        def call(*args: Any, **more: Any) -> Any:
            calls[0] += 1
            return function(*args, **more)

        monkeypatch.setattr(module, name, call)
        return calls

    return count_calls


def test_things_in_other_bands_are_not_compared() -> None:
    levels: Levels[str] = Levels()
    for number, (y0, y1) in enumerate([(0, 5), (-1e9, 1e9), (30, 20), (700, 710)]):
        levels.add(number, y0, y1, "abcd"[number])
    assert levels.find(4, 4) == ["a", "b"]
    assert levels.find(21, 800) == ["b", "c", "d"]
    assert levels.find(-1e9, -1e9) == ["a", "b"]
    levels.remove(1, -1e9, 1e9)
    assert levels.find(1e9, 1e9) == []


def test_formulas_of_a_page_are_compared_with_those_near_them(
    count: Callable[[Any, str], list[int]],
) -> None:
    setting, number = Setting(), 120
    for k in range(number):
        setting.put("x=y", x=10 + 100 * (k % 4), y=20 + 20 * (k // 4))
    calls = [count(module, "is_next_row") for module in (regions, formula_doubts)]
    assert list(formula_doubts.find_cut(place_regions(setting.page()).places)) == []
    assert all(0 < each[0] < 20 * number for each in calls)


def test_blocks_without_a_row_are_tried_in_the_rows_near_them(
    count: Callable[[Any, str], list[int]],
) -> None:
    setting, number = Setting(), 150
    for k in range(number):
        setting.tall("∑", 20 * k, 20 * k + 12, x=10 + k % 7)
    tries = count(rows, "_choose_row")
    found = form_rows([[part_of_glyph(glyph) for glyph in setting.glyphs]])
    assert len(found) == number
    assert tries[0] < 4 * number


@pytest.mark.parametrize("step", [1, -1])
def test_words_along_a_rule_are_followed_once(step: int) -> None:
    class Steps(dict[Part, Part]):
        count = 0

        def get(self, key: Part, default: Any = None) -> Any:
            self.count += 1
            return super().get(key, default)

    parts = [part_of_glyph(glyph) for glyph in Setting().put("x" * 450, size=1).glyphs]
    words = Neighbours(parts)
    words.left, words.right = Steps(words.left), Steps(words.right)
    bar = Bar(parts[2].box.x0, parts[-3].box.x1, 101, ())
    prose, field = Prose(words, [bar]), Field(parts, Doubts(build_row, is_embedded=False))
    order = list(enumerate(parts))[2:-2][::step]
    within = [k for k, part in order if not prose.excludes(part, bar, field, ())]
    # The ends of the rule are at most 200 letters from the others.
    assert sorted(within) == list(range(202, 248))
    assert words.left.count + words.right.count < 3 * len(parts)
    beside = Bar(parts[5].box.x0, parts[10].box.x1, 101, ())
    assert Prose(words, [beside]).excludes(parts[7], beside, field, ())
    covered = Prose(words, [beside, Bar(0, 600, 101, ())])
    assert not covered.excludes(parts[7], beside, field, ())


def test_rules_after_the_most_examined_parts_are_beside_doubtful_formulas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setting = Setting().put("x+1", x=30, y=94).bar(28, 48, 97.5).put("b", x=35, y=107)
    setting.put("y=", x=14)
    (whole,) = read_formulas(setting.page())
    assert (whole.latex, whole.doubts) == (r"y=\frac{x+1}{b}", ())
    monkeypatch.setattr(bars, "MAX_EXAMINED", 0)
    places = place_regions(setting.page()).places
    glyphs = {id(g) for place in places for g in place.region.glyphs}
    assert {id(g) for g in setting.glyphs} == glyphs
    found = formula_doubts.find_doubts(places, setting.page())
    assert any(formula_doubts.UNUSED in each for each in found.formulas)


def test_a_page_with_rules_that_were_not_examined_is_searched_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = pymupdf.open().new_page(width=300, height=200)
    for text, y in (("12", 58), ("34", 70)):
        page.insert_text((20, y), text, fontname="tiro", fontsize=10)
    page.draw_line((19, 60.5), (31, 60.5), width=0.5)
    reading = search_page(page)
    assert [formula.latex for formula in reading.formulas] == [r"\frac{12}{34}"]
    assert not reading.is_partial
    monkeypatch.setattr(bars, "MAX_EXAMINED", 0)
    reading = search_page(page)
    assert (reading.formulas, reading.is_partial) == ([], True)


def test_further_drawn_roots_are_not_examined_and_flag_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = pymupdf.open().new_page(width=300, height=200)
    for x in (20, 120):
        page.draw_polyline(
            [(x, 60), (x + 3, 58), (x + 8, 70), (x + 14, 50), (x + 40, 50)], width=0.5
        )
        page.insert_text((x + 16, 66), "x", fontname="tiit", fontsize=10)
    assert not search_page(page).is_partial
    monkeypatch.setattr(page_marks, "MAX_ROOTS", 1)
    drawn = find_drawn(page.get_cdrawings())
    assert (len(drawn.roots), drawn.is_partial) == (1, True)
    reading = search_page(page)
    assert reading.is_partial
    assert [formula.latex for formula in reading.formulas] == ["x", "x"]
