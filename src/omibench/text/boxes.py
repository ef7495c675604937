r"""Balanced `\boxed{...}` groups, found in one pass over the text."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_BOXES = 200
UNCLOSED_CHARS = 200

_LENIENT = re.compile(r"\\\{|\\\}|\\\\|\\boxed\s*\{|\\fbox\s*\{|boxed\s*\{|fbox\s*\{|\{|\}")
"""Alternatives that each begin with a letter, so that the scan for the next one runs in C."""
_LITERAL = re.compile(r"\\boxed\{|\{|\}")


class Boxes(NamedTuple):
    """Contents of the outermost balanced boxes in order, and of a box left open at the end."""

    closed: list[str]
    unclosed: str | None


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
    # Braces before the first box are irrelevant.
    places = (text.find("boxed"), text.find("fbox")) if "box" in text else ()
    starts = [place for place in places if place >= 0]
    spans = _scan(text, _LENIENT, min(starts)) if starts else _Spans([], [])
    closed = [text[start:end] for start, end in spans.closed[-MAX_BOXES:]]
    unclosed = None
    if spans.open and len(text) - spans.open[-1] <= UNCLOSED_CHARS:
        unclosed = text[spans.open[-1] :]
    return Boxes(closed, unclosed)


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
