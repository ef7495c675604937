"""Lines of prose far from all mathematics, whose glyphs are not examined."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.stages.ocr.formulas.painted_glyphs import (
    PaintedGlyph,
    ProseLines,
    find_missing,
    find_prose,
)
from omibench.stages.ocr.layout.layout import Box


def line(
    text: str, y: float, *, font: str = "Times", size: float = 10, **more: Any
) -> dict[str, Any]:
    box = (50.0, y - 0.8 * size, 50 + 0.5 * size * len(text), y + 0.2 * size)
    span = {"text": text, "font": font, "size": size, "flags": 0, "origin": (50.0, y), "bbox": box}
    return {"spans": [span | more], "bbox": box}


def test_words_alone_are_prose() -> None:
    assert (
        find_prose([line("A ball falls, (see page 3).", y) for y in (100, 112, 124)], [])
        == [True] * 3
    )


@pytest.mark.parametrize(
    "formula",
    [
        line("so E = 3", 300),
        line("the angle α", 300),
        line("x", 300, font="ABCDEF+CMMI10"),
        line("of mass m here", 300, flags=2),
        line("a \ufffd b", 300),
    ],
)
def test_lines_near_a_formula_are_examined_and_distant_ones_are_not(
    formula: dict[str, Any],
) -> None:
    lines = [line("Far above.", 100), line("Just above.", 285), formula, line("Far below.", 500)]
    assert find_prose(lines, []) == [True, False, False, True]


def test_a_smaller_line_beside_a_larger_one_may_be_a_script() -> None:
    assert find_prose([line("Area in m", 100), line("2", 96, size=6)], []) == [False, False]
    assert find_prose([line("Heading", 100, size=16), line("Words.", 140)], []) == [True, True]


def test_lines_beside_a_rule_are_examined() -> None:
    lines = [line("distance", 100), line("time", 114), line("Words.", 300)]
    assert find_prose(lines, [Box(50, 104, 90, 104)]) == [False, False, True]


def test_fonts_of_spaces_alone_and_fonts_without_names_are_examined() -> None:
    assert find_prose([line("  ", 100, font="Cambria"), line("Words.", 300)], []) == [False, True]
    assert (
        find_prose([line("a", 100, font="Type3 (7 0 R)"), line("Words.", 300)], []) == [False] * 2
    )


def test_a_page_of_thousands_of_lines_is_examined_as_a_whole() -> None:
    assert not any(find_prose([line("a", 100)] * 5000, [Box(0, 0, 9, 9)]))


def test_a_hyphen_at_the_end_of_a_line_is_not_missing() -> None:
    lines = [line("melted together com\u00ad", 300)]
    hyphen, minus = (PaintedGlyph(1, text, "Times", 10, 100, 300, 69) for text in "-−")
    assert find_missing([hyphen], ProseLines(lines)) == []
    assert find_missing([minus], ProseLines(lines)) == [minus]


def test_a_ligature_is_read_as_its_letters() -> None:
    lines = [{"bbox": (72.0, 90.0, 300.0, 104.0), "spans": [{"text": "of a first kind"}]}]
    ligature = PaintedGlyph(5, "\ufb01", "CMR10", 10.0, 90.0, 100.0, 7)
    long = PaintedGlyph(6, "\ufb03", "CMR10", 10.0, 90.0, 100.0, 8)
    assert find_missing([ligature, long], ProseLines(lines)) == []
    kid = ProseLines([{**lines[0], "spans": [{"text": "a kid"}]}])
    assert find_missing([ligature], kid) == [ligature]
