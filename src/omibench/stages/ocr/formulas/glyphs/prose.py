"""Lines of prose that are far from all mathematics: their glyphs need not be examined."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from omibench.stages.ocr.formulas.fonts.identify import identify
from omibench.stages.ocr.formulas.marks import Glyph
from omibench.stages.ocr.formulas.reading.kinds import is_math_font, role_of
from omibench.stages.ocr.formulas.reading.seeds import SEEDS
from omibench.stages.ocr.formulas.reading.units import RowUnit
from omibench.stages.ocr.layout.layout import Box

UNNAMED = "Type3 ("
"""MuPDF's prefix of unnamed fonts."""
_MOST_LINES = 600
"""Maximum lines of a page that can be skipped: a page of a paper has fewer than 200."""
_MOST_PAIRS = 100_000
"""Maximum number of pairs of a line and a rule that are compared."""
_RAISED, _ITALIC = 1, 2
_LONE_LETTER = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_SAME_SIZE = 0.95
_SAME_BASELINE = 0.05
"""Maximum difference between the baselines of a line's spans, in type sizes."""
_NEAR = 2.5
"""Distance around mathematics within which a line can be part of it, in type sizes."""
_SCRIPT_ROWS = 1.2
"""Maximum distance between the baselines of a symbol and its script, in type sizes."""
_SCRIPT_GAP = 0.7
"""Maximum gap between a symbol and its script in one row, in type sizes."""

_Line = dict[str, Any]


def find_prose(lines: Sequence[_Line], marks: Iterable[Box]) -> list[bool]:
    """Return for each line whether it is prose far from all mathematics.

    Args:
        lines: Lines as MuPDF's `dict` lists them.
        marks: Boxes of level rules and drawn root signs, each a possible part of a formula.
    """
    boxes = list(marks)
    is_unusual = len(lines) > _MOST_LINES or len(lines) * len(boxes) > _MOST_PAIRS
    if is_unusual or any(s["font"].startswith(UNNAMED) for line in lines for s in line["spans"]):
        return [False] * len(lines)
    empty = _find_empty_fonts(lines)
    plain = [_is_plain(line, empty) for line in lines]
    _rule_out_scripts(lines, plain)
    _rule_out_marked(lines, boxes, plain)
    near = [_grow(line) for line, is_plain in zip(lines, plain, strict=True) if not is_plain]
    ranges = _merge_ranges(near)
    starts = [start for start, _ in ranges]
    return [_is_outside(line["bbox"], ranges, starts) for line in lines]


def _find_empty_fonts(lines: Sequence[_Line]) -> set[str]:
    """Find the fonts whose text is all spaces, such as Cambria Math of Word 2010."""
    blank: dict[str, bool] = {}
    for line in lines:
        for span in line["spans"]:
            font = span["font"]
            blank[font] = blank.get(font, True) and not span["text"].strip()
    return {font for font, is_blank in blank.items() if is_blank}


def _is_plain(line: _Line, empty: set[str]) -> bool:
    """Return whether a line has no certain mathematics."""
    spans = line["spans"]
    if not spans:
        return True
    size, y = spans[0]["size"], spans[0]["origin"][1]
    return all(
        _SAME_SIZE * size <= span["size"] <= size / _SAME_SIZE
        and abs(span["origin"][1] - y) <= _SAME_BASELINE * size
        and span["font"] not in empty
        and _is_plain_span(span["font"], span["text"], span["flags"])
        for span in spans
    )


def _is_plain_span(font: str, text: str, flags: int) -> bool:
    if flags & _RAISED or not _is_prose_font(font):
        return False
    if flags & _ITALIC and _LONE_LETTER.search(text):
        return False
    return all(_is_prose(font, character) for character in set(text))


@lru_cache(maxsize=4096)
def _is_prose_font(font: str) -> bool:
    return not is_math_font(font.rpartition("+")[2])


@lru_cache(maxsize=65536)
def _is_prose(font: str, character: str) -> bool:
    """Return whether a character in a font is part of words, not only of formulas."""
    if character.isspace():
        return True
    if character == "\ufffd":
        return False
    name = font.rpartition("+")[2]
    box = Box(0, 0, 5, 7)
    glyph = Glyph(0, character, identify(name, character), name, 10, 0, 7, box)
    return role_of(RowUnit(box, 10, 5, (glyph,))) != "math" and character not in SEEDS


def _rule_out_scripts(lines: Sequence[_Line], plain: list[bool]) -> None:
    """Mark lines of different sizes that are as near as a symbol and its script."""
    sizes = {round(span["size"]) for line in lines for span in line["spans"]}
    if len(sizes) < 2:
        return
    places = sorted(
        (line["spans"][0]["origin"][1], k) for k, line in enumerate(lines) if line["spans"]
    )
    largest = max(span["size"] for line in lines for span in line["spans"])
    for at, (y, k) in enumerate(places):
        for other_y, j in places[at + 1 :]:
            if other_y - y > _SCRIPT_ROWS * largest:
                break
            if (plain[k] or plain[j]) and _may_be_script(lines[k], lines[j], other_y - y):
                plain[k] = plain[j] = False


def _may_be_script(a: _Line, b: _Line, shift: float) -> bool:
    sizes = sorted((a["spans"][0]["size"], b["spans"][0]["size"]))
    reach = _SCRIPT_GAP * sizes[1]
    gap = max(a["bbox"][0], b["bbox"][0]) - min(a["bbox"][2], b["bbox"][2])
    is_smaller = sizes[0] < _SAME_SIZE * sizes[1]
    return bool(is_smaller and shift < _SCRIPT_ROWS * sizes[1] and gap < reach)


def _rule_out_marked(lines: Sequence[_Line], boxes: Sequence[Box], plain: list[bool]) -> None:
    """Mark lines next to a rule or a root sign."""
    if not boxes:
        return
    for k, line in enumerate(lines):
        if plain[k] and line["spans"]:
            size = line["spans"][0]["size"]
            around = Box(*line["bbox"]).grow(size, 0.8 * size)
            plain[k] = not any(around.touches(box) for box in boxes)


def _grow(line: _Line) -> tuple[float, float]:
    """Return the height range that a formula in this line can reach."""
    size = max((span["size"] for span in line["spans"]), default=10.0)
    origins = [span["origin"][1] for span in line["spans"]]
    low, high = min([line["bbox"][1], *origins]), max([line["bbox"][3], *origins])
    return low - _NEAR * size, high + _NEAR * size


def _merge_ranges(ranges: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def _is_outside(
    bbox: tuple[float, ...], ranges: Sequence[tuple[float, float]], starts: Sequence[float]
) -> bool:
    place = bisect_left(starts, bbox[3])
    return place == 0 or bool(ranges[place - 1][1] < bbox[1])
