r"""Balanced `\boxed{...}` groups, found in one pass over the text."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from glyphtex import lazy_re as re

MAX_BOXES = 200
UNCLOSED_CHARS = 200

_LENIENT = re.compile(r"\\\{|\\\}|\\\\|\\boxed\s*\{|\\fbox\s*\{|boxed\s*\{|fbox\s*\{|\{|\}")
"""Alternatives that each begin with a letter, so that the scan for the next one runs in C."""
_GAP = re.compile(
    r"\}(?:[ \t$,;{}]|\\[()\[\],;!]|\\q?quad|\\(?:text|mathrm)\{[^{}]{0,8}\}|and|or)*"
    r"(?:(?<=[ $(])[A-Za-z](?:_\{?\w\}?)?\s*=\s*)?\\?(?:boxed|fbox)\s*\{"
)
_ONLY = re.compile(r"(?:boxed|(?<=f)box)\s*\{([^{}\\]*)\}")
"""Most responses have one box, with nothing to balance in it."""
_GAP_CHARS = 60
_NAME = re.compile(r"(?:^|(?<=[\s$(,;]))([A-Za-z](?:_\{?\w\}?)?)\s*=\s*\\?(?:boxed|fbox)\s*\{$")
_NAME_CHARS = 24
_LITERAL = re.compile(r"\\boxed\{|\{|\}")


class Boxes(NamedTuple):
    r"""Contents of the outermost balanced boxes in order, and of a box left open at the end.

    `side_by_side` is the number of last boxes with nothing but commas, "and" or "or" between them,
    and names if each has its own: `x = \boxed{3}` and `y = \boxed{4}`. `names` are those before
    the closed boxes, "" without one; no names are searched for one box.
    """

    closed: list[str]
    unclosed: str | None
    side_by_side: int = 1
    names: tuple[str, ...] = ()


class _Spans(NamedTuple):
    """Positions of box contents: of the outermost closed boxes, and of open ones."""

    closed: list[tuple[int, int]]
    open: list[int]


def find_boxes(text: str) -> Boxes:
    r"""Find every `\boxed{...}` (also `boxed{`, `\fbox{` and with a space before the brace).

    Linear in the length of the text. A box inside a box is part of the outer one; escaped braces
    are text. If there are many boxes, the last 200 are kept.

    Args:
        text: Text of a response.

    Returns:
        Contents of closed boxes in order, and of a final unclosed one if it is within the last
        200 characters.
    """
    at = text.rfind("box")
    if at < 0:
        return Boxes([], None)
    if (only := _ONLY.match(text, at)) and text.find("box", 0, at) < 0:
        return Boxes([only[1]], None)
    # Braces before the first box are irrelevant.
    starts = [place for place in (text.find("boxed"), text.find("fbox")) if place >= 0]
    spans = _scan(text, _LENIENT, min(starts)) if starts else _Spans([], [])
    closed = [text[start:end] for start, end in spans.closed[-MAX_BOXES:]]
    unclosed = None
    if spans.open and len(text) - spans.open[-1] <= UNCLOSED_CHARS:
        unclosed = text[spans.open[-1] :]
    if len(closed) < 2:
        return Boxes(closed, unclosed)
    kept = spans.closed[-MAX_BOXES:]
    names = tuple(_find_name(text, start) for start, _ in kept)
    return Boxes(closed, unclosed, _count_side_by_side(text, kept, names), names)


def _find_name(text: str, start: int) -> str:
    name = _NAME.search(text[max(0, start - _NAME_CHARS) : start])
    return name[1] if name else ""


def _count_side_by_side(text: str, spans: list[tuple[int, int]], names: tuple[str, ...]) -> int:
    count = 1
    for (_, end), (start, _) in reversed(list(pairwise(spans))):
        if start - end > _GAP_CHARS or not _GAP.fullmatch(text, end, start):
            break
        count += 1
    beside = names[-count:]
    return count if not any(beside[1:]) or are_names_of_each(beside) else 1


def are_names_of_each(names: tuple[str, ...]) -> bool:
    """Return whether every box has a name, and each another."""
    return all(names) and len(set(names)) == len(names)


def find_literal_boxes(text: str) -> list[str]:
    r"""Find `\boxed{...}` in this spelling only, counting braces including escaped ones.

    As in published scoring scripts, an unclosed box hides everything after it.

    Args:
        text: Text of a response.

    Returns:
        Contents of the outermost boxes in order, up to the first unclosed one.
    """
    first = text.find("\\boxed{")
    if first < 0:
        return []
    spans = _scan(text, _LITERAL, first)
    end = spans.open[0] if spans.open else len(text)
    return [text[start:stop] for start, stop in spans.closed if start < end]


def _scan(text: str, tokens: re.Pattern[str], first: int) -> _Spans:
    """Match every brace from the position `first` on; unmatched ones are open at the end."""
    stack: list[tuple[int, bool]] = []
    spans: list[tuple[int, int]] = []
    for token in tokens.finditer(text, first):
        mark = token.group()
        if mark == "}":
            if stack:
                start, is_box = stack.pop()
                if is_box:
                    while spans and spans[-1][0] >= start:
                        spans.pop()
                    spans.append((start, token.start()))
        elif mark[-1] == "{" and mark != "\\{":
            stack.append((token.end(), mark != "{"))
    return _Spans(spans, [start for start, is_box in stack if is_box])
