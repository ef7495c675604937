"""Doubts from text printed right next to a formula in its row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from omibench.stages.ocr.formulas.doubts.left import SYMBOL
from omibench.stages.ocr.formulas.doubts.neighbours import SPLIT
from omibench.stages.ocr.formulas.reading.growth import RowReader
from omibench.stages.ocr.formulas.reading.kinds import is_hyphen, is_math_letter
from omibench.stages.ocr.formulas.reading.operands import SIGNS, SPACE, THIN, TIGHT

OPERATOR = "an operator or a relation next to the formula is not part of it"
BRACKET = "a bracket next to the formula may be part of it"
TOUCHES = "a letter or a number right next to the formula is not part of it"
BEGINS = "the formula begins with a sign that needs something before it"
LIST = "several formulas in one pair of brackets may be one formula"
_POINTERS = frozenset("/:←⇐")
"""Signs that text also uses: a mark can point with an arrow at the answer before it."""
_BINARY = frozenset("×·⋅÷/")
_TOUCHING = 0.1
"""Maximum distance from a formula, in type sizes, for a letter to be part of its word."""
_LABEL = 4
"""Maximum place of the bracket that closes the label of a choice."""
_PROSE_BRACKETS = frozenset("()[]")


def find_beside(row: RowReader, intervals: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield the doubts of the formulas of a row.

    Args:
        row: Row of units.
        intervals: Its formulas as half-open ranges of units, from left to right.

    Yields:
        Index of a formula and the doubt.
    """
    for number, (start, end) in enumerate(intervals):
        if row.units[start].is_object:
            continue
        for k, gap_place in ((start - 1, start), (end, end)):
            if 0 <= k < len(row.units) and row.gaps[gap_place] < SPACE:
                doubt = _doubt_neighbour(row, k, row.gaps[gap_place], start, end)
                if doubt:
                    yield number, doubt
        if _begins_late(row, start):
            yield number, BEGINS
    for number, ((_, end), (start, _)) in enumerate(pairwise(intervals)):
        if row.units[end - 1].is_object or row.units[start].is_object:
            continue
        if _may_be_one(row, end, start):
            yield number, SPLIT
            yield number + 1, SPLIT
        elif _is_list(row, intervals[number], intervals[number + 1]):
            yield number, LIST
            yield number + 1, LIST


def _doubt_neighbour(row: RowReader, k: int, gap: float, start: int, end: int) -> str | None:
    role = row.roles[k]
    if role in ("operator", "relation"):
        is_text = row.sign(k) in _POINTERS or is_hyphen(row.units[k])
        return None if is_text else OPERATOR
    if role in ("open", "close", "bar"):
        is_modulus = role == "open" and k < start and row.word(start) == "mod"
        is_part = role == "bar" or is_modulus or _belongs(row, k, gap, start, end)
        return BRACKET if is_part else None
    if role == "math" or (
        role == "letter" and gap < TIGHT and is_math_letter(row.units[k].glyphs[0])
    ):
        return SYMBOL
    return TOUCHES if role in ("letter", "digit") and gap < _TOUCHING else None


def _begins_late(row: RowReader, start: int) -> bool:
    """Return whether a formula begins with an operator or in the middle of a number."""
    if row.sign(start) in _BINARY:
        return True
    before = start - 1
    if before < 0 or row.gaps[start] >= THIN:
        return False
    if row.roles[start] == "digit" and row.roles[before] == "point":
        return row.is_digit(before - 1) and row.gaps[before] < THIN
    return row.sign(start) in SIGNS and row.roles[before] in ("digit", "letter", "close")


def _belongs(row: RowReader, k: int, gap: float, start: int, end: int) -> bool:
    """Return whether a bracket next to a formula may belong to it rather than to the prose."""
    if gap >= TIGHT:
        return False
    pair = row.pairs.get(k)
    if (k < start) == (row.roles[k] == "close"):
        # It opens after the formula, or closes before it, as in `f(x)`.
        return not (pair == 0 and k <= _LABEL)
    if pair is not None and (start <= pair < end):
        return True
    return row.sign(k) not in _PROSE_BRACKETS


def _may_be_one(row: RowReader, end: int, start: int) -> bool:
    """Return whether the text between two formulas is too short for a word."""
    between = range(end, start)
    if not between:
        return True
    if any(row.gaps[k] > SPACE for k in range(end, start + 1)):
        return False
    return all(row.roles[k] in ("operator", "relation", "bar", "math", "digit") for k in between)


def _is_list(row: RowReader, first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Return whether two formulas separated by a comma fill a pair of brackets."""
    comma = range(first[1], second[0])
    if len(comma) != 1 or row.sign(comma[0]) not in (",", ";"):
        return False
    return first[0] > 0 and row.pairs.get(first[0] - 1) == second[1]
