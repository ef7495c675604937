"""Sets of numbers as intervals or inequalities: (0, 1] is 0 < x <= 1."""

from __future__ import annotations

from typing import NamedTuple

from glyphtex import lazy_re as re
from omibench.answers.formulas.operators import Equality
from omibench.answers.multipart import by_comma

_UNION = re.compile(r"\\cup(?![A-Za-z])|∪|\sor\s|\sU\s")
_MEMBER = re.compile(r"^\s*\\?[A-Za-z](?:_\{\w+\})?\s*(?:\\in(?![A-Za-z])|∈)\s*")
_BRACKETS = re.compile(r"([(\[\]])(.*)([)\]\[])", re.DOTALL)
_COMPARISON_SIGN = re.compile(r"\\leq(?![A-Za-z])|\\geq(?![A-Za-z])|[<>]")
_VARIABLE = re.compile(r"\\?[A-Za-z]+(?:\s*_\{\s*\w+\s*\})?(?:\s*\(\w+\))?|[A-Z](?:\s?[A-Z])")
_MINUS = re.compile(r"-\s*∞")
_NOT_AN_END = re.compile(r"[=,≈;]|\\neq(?![A-Za-z])|\s(?:and|or)\s")
FLIPPED = {"<": ">", ">": "<", r"\leq": r"\geq", r"\geq": r"\leq"}
"""The sign of an inequality read from the other side."""


class Interval(NamedTuple):
    """Both ends ("" if infinite), whether they are included, and the variable's name."""

    low: str
    low_closed: bool
    high: str
    high_closed: bool
    variable: str


def same_intervals(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Return whether two tidied texts are the same union of intervals; None for other texts.

    Applies only if one text has a union, an infinite end or a half-open bracket, or if the two
    differ in kind: a pair (1, 2) can be a point.
    """
    g, p = intervals(gold), intervals(pred)
    if g is None or p is None or not (_is_set(gold, p) or _is_set(pred, g)):
        return None
    named = {i.variable for i in (*g, *p) if i.variable}
    if len(g) != len(p) or len(named) > 1:
        return False
    remaining = list(p)
    for interval in g:
        hit = next(
            (candidate for candidate in remaining if _same_interval(interval, candidate, is_same)),
            None,
        )
        if hit is None:
            return False
        remaining.remove(hit)
    return True


def _is_set(text: str, intervals_beside: list[Interval]) -> bool:
    written = _UNION.search(text) or "∞" in text or re.search(r"^\s*(?:\[.*\)|\(.*\])$", text)
    return bool(written) or any(interval.variable for interval in intervals_beside)


def _same_interval(gold: Interval, pred: Interval, is_same: Equality) -> bool:
    ends = ((gold.low, pred.low), (gold.high, pred.high))
    closed = (gold.low_closed, gold.high_closed) == (pred.low_closed, pred.high_closed)
    return closed and all(a == b == "" or (a and b and is_same(a, b)) for a, b in ends)


def intervals(text: str) -> list[Interval] | None:
    """Return the intervals of a union in order; None if a piece is not one or an inequality."""
    if len(text) > 300:
        return None
    pieces = [piece.strip() for piece in _UNION.split(text)]
    readings = [_read_brackets(piece) or _inequality(piece) for piece in pieces]
    readable = [interval for interval in readings if interval]
    return readable if len(readable) == len(readings) else None


def _read_brackets(text: str) -> Interval | None:
    match = _BRACKETS.fullmatch(_MEMBER.sub("", text).strip())
    entries = [part.text for part in by_comma(match.group(2))] if match else []
    if match is None or len(entries) != 2:
        return None
    if entries[0].strip() in ("∞", "+∞") or _MINUS.fullmatch(entries[1].strip()):
        return None
    low, high = (_end(entry) for entry in entries)
    return Interval(low, match.group(1) == "[", high, match.group(3) == "]", "")


def _inequality(text: str) -> Interval | None:
    """Parse x < 3, -1 < x <= 3 or 3 > x, in which the variable is a plain name."""
    signs = _COMPARISON_SIGN.findall(text)
    sides = [side.strip() for side in _COMPARISON_SIGN.split(text)]
    if not 1 <= len(signs) <= 2 or any(not side or _NOT_AN_END.search(side) for side in sides):
        return None
    if signs[0] in (">", r"\geq"):
        sides, signs = sides[::-1], [FLIPPED[sign] for sign in reversed(signs)]
    names = [_VARIABLE.fullmatch(side) is not None for side in sides]
    if any(sign not in ("<", r"\leq") for sign in signs) or sum(names) != 1:
        return None
    at, ends = names.index(True), [_end(side) for side in sides]
    if len(sides) == 3 and at != 1:
        return None
    closed = [sign == r"\leq" for sign in signs]
    low, low_closed = (ends[0], closed[0]) if at > 0 else ("", False)
    high, high_closed = (ends[-1], closed[-1]) if at + 1 < len(sides) else ("", False)
    return Interval(low, low_closed, high, high_closed, _name(sides[at]))


def _end(text: str) -> str:
    plain = text.strip().lstrip("+").strip()
    return "" if plain == "∞" or _MINUS.fullmatch(plain) else text.strip()


def _name(text: str) -> str:
    return re.sub(r"\s", "", text)
