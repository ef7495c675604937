"""Decide which formulas of a passage are certainly broken over two lines."""

from __future__ import annotations

import re

from omibench.stages.ocr.formulas.breaks.passages import Passage
from omibench.stages.ocr.formulas.reading.growth import RowReader
from omibench.stages.ocr.formulas.reading.kinds import is_math_letter
from omibench.stages.ocr.formulas.reading.operands import THIN
from omibench.stages.ocr.formulas.reading.words import FUNCTIONS

_LABEL = re.compile(r"[(\[]?(?:\d{1,2}|[A-Za-z]|[ivx]{2,4})[.)\]]")
"""A number or letter at the beginning of a line that names a problem, a part or a choice."""
_LONGEST_LABEL = 6
_FITS = 0.5
"""Type sizes: a formula's next line would have fitted into a line with that much more space."""

Interval = tuple[int, int]


def is_certain(row: RowReader, passage: Passage, intervals: list[Interval], place: int) -> bool:
    """Return whether a formula crosses a line break, and is one formula for certain.

    Args:
        row: Row of several lines.
        passage: The same lines.
        intervals: Formulas of the row.
        place: Where the next line begins.
    """
    crossing = next(((start, end) for start, end in intervals if start < place < end), None)
    edge = passage.edges[passage.breaks.index(place)]
    return (
        crossing is not None
        and (passage.follows_text or _has_prose(row, intervals))
        and not _begins_with_label(row, place)
        and not _begins_with_word(row, crossing, place)
        and _is_too_long(row, crossing, place, edge)
    )


def _has_prose(row: RowReader, intervals: list[Interval]) -> bool:
    """Return whether a row has words or a label: else its lines are the rows of a display."""
    inside = {k for start, end in intervals for k in range(start, end)}
    words = {row.words[k] for k, role in enumerate(row.roles) if role == "letter"}
    is_word = any(
        end - start >= (3 if row.units[start].glyphs[0].italic else 2)
        for start, end in words
        if start not in inside
    )
    return is_word or _begins_with_label(row, 0)


def _begins_with_label(row: RowReader, place: int) -> bool:
    """Return whether a line begins with a label such as `(a)` or `2.`, followed by a space."""
    text = ""
    for k in range(place, min(place + _LONGEST_LABEL, len(row.units))):
        text += row.sign(k)
        if _LABEL.fullmatch(text) and row.pairs.get(k, place) >= place:
            return k + 1 == len(row.units) or row.gaps[k + 1] > THIN
    return False


def _begins_with_word(row: RowReader, crossing: Interval, place: int) -> bool:
    """Return whether the only operand in a line is a letter in the type of the text, as `a`."""
    if row.roles[place] != "letter" or is_math_letter(row.units[place].glyphs[0]):
        return False
    start, end = row.words[place]
    has_scripts = any(row.units[k].scripts for k in range(start, end))
    return end >= crossing[1] and not has_scripts and row.word(place) not in FUNCTIONS


def _is_too_long(row: RowReader, crossing: Interval, place: int, edge: float) -> bool:
    """Return whether a formula's next line would not have fitted at the end of the line above."""
    line_end = next((b for b in row.breaks if b > place), len(row.units))
    own = row.units[place : min(crossing[1], line_end)]
    above = row.units[place - 1]
    width = own[-1].whole_box.x1 - own[0].whole_box.x0
    return edge - above.whole_box.x1 < width + _FITS * above.size
