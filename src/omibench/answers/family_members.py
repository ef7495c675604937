r"""Comparison of texts with a parameter.

`x = k\pi, k \in \mathbb{Z}`, `(2k\pi, 2k\pi + \pi), k \in Z`, `all odd integers n > 1` and
`n \equiv 1 \pmod 4` are compared by their members in a window around 0; `f(x) = cx` with a
constant c, and `(k, 2k)`, with the same text in other letters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations

from glyphtex import lazy_re as re
from omibench.answers.families import FUNCTION, MAX_CHARS, MEMBERS, Family, read_family
from omibench.answers.formulas.formula import INTEGER_LETTERS, rename_symbols, symbols
from omibench.answers.formulas.operators import Equality
from omibench.answers.formulas.samples import POINTS, START
from omibench.answers.number_sets import (
    REALS,
    Span,
    Spans,
    intersect,
    join_spans,
    read_number_set,
    same_spans,
)
from omibench.text.pieces import split_outside_brackets

MAX_CONSTANTS = 3
_PERIODS = 8.382
_PLACES, _EVEN = 9, 1e-9
_NAMED = re.compile(r"\s*(\\?[A-Za-z]+(?:\s*_\{\s*\w+\s*\})?)\s*(?:=|\\in(?![A-Za-z])|∈)\s*")
_FREE = frozenset("cCkK")
"""Letters that denote a constant of the answer in f(x) = cx, without any word."""
_NAMES_OF_CONSTANTS = _FREE | frozenset(("a", "b", "m", "A", "B", "K", r"\lambda", r"\alpha"))
_INEQUALITY = re.compile(r"[<>]|\\(?:leq|geq|neq)(?![A-Za-z])")
_OF_INTEGRATION = re.compile(r"[Cc]_\{\d\}")


def same_family(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Return whether two tidied texts with parameters are the same; None if none has any.

    Args:
        gold: Gold answer, tidied.
        pred: Answer, tidied.
        is_same: Comparison of two texts.
    """
    if max(len(gold), len(pred)) > MAX_CHARS:
        return None
    g, p = read_family(gold), read_family(pred)
    if g is None and p is None:
        return _same_constants(Family(gold, ()), Family(pred, ()), is_same) or None
    if (g is None) != (p is None) and any(
        f and (f.within != REALS or f.body in f.letters or f.is_set) for f in (g, p)
    ):
        return None
    if g and p and g.integer and p.integer:
        same = _same_members(g, p)
        if same is not None:
            return same
    if g and p:
        other_domain = (g.integer, g.lowest, g.within) != (p.integer, p.lowest, p.within)
    else:
        other_domain = _bounds_integers(g, pred) or _bounds_integers(p, gold)
    if other_domain:
        return False
    both = g or Family(gold, ()), p or Family(pred, ())
    kept = set(both[0].letters or both[1].letters)
    named = (g is None) != (p is None) and all(kept <= symbols(f.body) for f in both)
    return (named and is_same(both[0].body, both[1].body)) or _same_constants(*both, is_same)


def _bounds_integers(family: Family | None, other: str) -> bool:
    """Return whether a family is of integers x > 0, and the other text of real numbers x > 0."""
    return (
        family is not None
        and family.integer
        and not set(family.letters) <= INTEGER_LETTERS
        and _INEQUALITY.search(family.body) is not None
        and _INEQUALITY.search(other) is not None
    )


def _same_members(gold: Family, pred: Family) -> bool | None:
    """Compare the members of two families in a window; None if one is not linear in an integer."""
    if len(gold.letters) != 1 or len(pred.letters) != 1:
        return None
    excluded = [r"\neq" in family.body for family in (gold, pred)]
    if excluded[0] != excluded[1]:
        return None
    gold, pred = (f._replace(body=f.body.replace(r"\neq", "=")) for f in (gold, pred))
    names = [_NAMED.match(family.body) for family in (gold, pred)]
    if names[0] and names[1] and names[0][1] != names[1][1]:
        return False
    ours, theirs = _list_members(gold), _list_members(pred)
    if ours is None or theirs is None:
        return None
    (g, step, reach), (p, other_step, other_reach) = ours, theirs
    size = _PERIODS * max(step, other_step)
    if min(reach, other_reach) < size:
        return None
    window = (Span(-size, True, size, True),)
    return same_spans(intersect(g, window), intersect(p, window))


@lru_cache(maxsize=512)
def _list_members(family: Family) -> tuple[Spans, float, float] | None:
    """Return the members near 0, the largest step, and how far from 0 they are complete."""
    family = _read_condition(family)
    found, steps, reach = list[Span](), list[float](), math.inf
    for piece in _list_pieces(family.body):
        line = _read_line(piece, family.letters[0])
        if line is None:
            return None
        spans, step = line
        first = -MEMBERS if family.lowest is None else family.lowest
        members = [_move(spans, step * number) for number in range(first, MEMBERS + 1)]
        steps.append(abs(step))
        last = members[-1] if family.lowest is not None else (*members[0], *members[-1])
        reach = min(reach, *(min(abs(span.low), abs(span.high)) for span in last))
        found += [span for member in members for span in _round(member)]
    return intersect(join_spans(found), family.within), max(steps), reach


def _move(spans: Spans, by: float) -> Spans:
    return tuple(span._replace(low=span.low + by, high=span.high + by) for span in spans)


def _round(spans: Spans) -> Spans:
    """Return spans of which ends that touch are equal."""
    return tuple(s._replace(low=round(s.low, _PLACES), high=round(s.high, _PLACES)) for s in spans)


def _read_condition(family: Family) -> Family:
    """Return n > 3 for integers n as the integers within (3, oo)."""
    inner = read_number_set(family.body, family.letters)
    if inner is None or inner.variable != family.letters[0] or inner.kind == "points":
        return family
    within = inner.at(POINTS[0])
    if within is None:
        return family
    return family._replace(body=family.letters[0], within=intersect(family.within, within))


def _read_line(piece: str, letter: str) -> tuple[Spans, float] | None:
    """Return a member for the integer 0 and the step to the next; None if it is not moved only.

    Members that overlap are not intervals but points: (k, k + 2).
    """
    names = tuple(sorted(symbols(piece) | {letter}))
    read = read_number_set(piece, names)
    if read is None or read.kind == "points":
        read = read_number_set(rf"\{{ {_NAMED.sub('', piece, count=1)} \}}", names)
    if read is None or read.variable == letter:
        return None
    place, members = names.index(letter), list[Spans]()
    for number in (0.0, 1.0, 3.0):
        point = list(POINTS[0])
        point[place] = complex(START + number)
        members.append(read.at(point) or ())
    if not members[0] or any(len(member) != len(members[0]) for member in members):
        return None
    ends = [[end for span in member for end in (span.low, span.high)] for member in members]
    step = ends[1][0] - ends[0][0]
    if not all(map(math.isfinite, ends[0])) or not step:
        return None
    even = all(
        math.isclose(second - first, step, rel_tol=_EVEN)
        and math.isclose(third - first, 3 * step, rel_tol=_EVEN)
        for first, second, third in zip(*ends, strict=True)
    )
    overlap = ends[0][-1] - ends[0][0] > abs(step) * (1 + _EVEN)
    return (_move(members[0], -step * START), step) if even and not overlap else None


def _list_pieces(body: str) -> Iterator[str]:
    r"""Yield the members of a body: both of 2k\pi \pm 1, all of x = k or x = k + 1."""
    for piece in split_outside_brackets(
        body.replace("°", r" \frac{\pi}{180} "), {",", ";", "or", "and"}
    ):
        for sign in ("+", "-") if "±" in piece else ("+",):
            yield piece.replace("±", sign)


def _same_constants(gold: Family, pred: Family, is_same: Equality) -> bool:
    """Compare two texts with the constants of one named as those of the other."""
    g, p = symbols(gold.body), symbols(pred.body)
    ours, theirs = set(gold.letters) or g - p, set(pred.letters) or p - g
    if g == p and not (ours or theirs):  # numbered in another order
        ours = theirs = {name for name in g if _OF_INTEGRATION.fullmatch(name)}
    if gold.letters and not pred.letters:
        theirs = p - (g - ours)
    elif pred.letters and not gold.letters:
        ours = g - (p - theirs)
    if not 0 < len(ours) == len(theirs) <= MAX_CONSTANTS:
        return False
    if (gold.integer and gold.letters and not pred.letters and not theirs <= INTEGER_LETTERS) or (
        pred.integer and pred.letters and not gold.letters and not ours <= INTEGER_LETTERS
    ):
        return False
    if not (gold.letters or pred.letters) and not _are_constants(gold.body, ours, theirs):
        return False
    order = sorted(ours)
    return any(
        is_same(gold.body, rename_symbols(pred.body, dict(zip(names, order, strict=True))))
        for names in permutations(sorted(theirs))
    )


def _are_constants(gold: str, ours: set[str], theirs: set[str]) -> bool:
    """Return whether letters without a word on them are constants: f(x) = cx, C_1 e^x + C_2."""
    numbered = [names == _number_constants(names) for names in (ours, theirs)]
    if any(numbered) and not _OF_INTEGRATION.match(gold.strip()):
        return all(numbered) or (theirs if numbered[0] else ours) <= _NAMES_OF_CONSTANTS
    head = FUNCTION.match(gold)
    return bool(head) and len(ours) == 1 and ours <= _FREE and theirs <= _NAMES_OF_CONSTANTS


def _number_constants(names: set[str]) -> set[str]:
    """Return C_1, C_2, ... as many as the names: other letters with numbers are quantities."""
    letter = "c" if min(names, default="")[:1] == "c" else "C"
    return {f"{letter}_{{{number}}}" for number in range(1, len(names) + 1)}
