r"""Functions with a value under each condition: cases, `x^2 if x \ge 0, -x if x < 0`."""

from __future__ import annotations

from typing import NamedTuple

from glyphtex import lazy_re as re
from omibench.answers.formulas.operators import Equality
from omibench.text.pieces import split_outside_brackets

MAX_CHARS = 400
MAX_PIECES = 8
_HEAD = re.compile(r"(\\?[A-Za-z]+(?:\s*_\{[^{}]*\}|\s*\([^()]*\))?)\s*=\s*(?=\S)")
_CONDITION = re.compile(
    r"(.+?)\s*[,(]?\s*(?<![A-Za-z])"
    r"(?:(?:if|when|whenever|where|for(?: all| any)?)(?![A-Za-z])\s*(.+?)"
    r"|(otherwise|else|in all other cases))\s*\)?",
    re.DOTALL,
)
_ANY_WORD = re.compile("if|when|where|for|otherwise|else|in all other cases")
_FILLING = re.compile(r"\b(?:is|are|an?|the|integers?|numbers?|and)\b")
_OTHERWISE = "otherwise"


class Piece(NamedTuple):
    """A value and the condition under which it holds."""

    value: str
    condition: str


def same_piecewise(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Return whether two tidied texts have equal values under equal conditions, in any order.

    None if one gives no conditions. Conditions that are split in another way are different.

    Args:
        gold: Gold answer, tidied.
        pred: Answer, tidied.
        is_same: Comparison of two texts.
    """
    (name, pieces), (other, remaining) = _read_pieces(gold), _read_pieces(pred)
    if not pieces or not remaining:
        return None
    if len(pieces) != len(remaining) or (name and other and _bare(name) != _bare(other)):
        return False
    for piece in sorted(pieces, key=lambda p: p.condition == _OTHERWISE):
        hit = next((p for p in remaining if _same_condition(piece, p, is_same)), None)
        if hit is None and len(remaining) == 1:
            hit = remaining[0] if _OTHERWISE in (piece.condition, remaining[0].condition) else None
        if hit is None or not is_same(piece.value, hit.value):
            return False
        remaining.remove(hit)
    return True


def _read_pieces(text: str) -> tuple[str, list[Piece]]:
    """Return the name of a function and its pieces, [] for another text."""
    if len(text) > MAX_CHARS or not _ANY_WORD.search(text):
        return "", []
    head = _HEAD.match(text)
    body = text[head.end() :] if head else text
    for marks in ({";"}, {",", ";"}, {",", ";", "and"}):
        matches = [_CONDITION.fullmatch(part) for part in split_outside_brackets(body, marks)]
        if 1 < len(matches) <= MAX_PIECES and all(matches):
            pieces = [Piece(m[1], _plain(m[2] or _OTHERWISE)) for m in matches if m]
            return (head[1] if head else ""), pieces
    return "", []


def _same_condition(gold: Piece, pred: Piece, is_same: Equality) -> bool:
    return gold.condition == pred.condition or is_same(gold.condition, pred.condition)


def _bare(name: str) -> str:
    return re.sub(r"[\s{}]|\(.*", "", name)


def _plain(condition: str) -> str:
    return " ".join(_FILLING.sub(" ", condition).split())
