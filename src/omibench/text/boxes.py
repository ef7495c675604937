r"""Balanced `\boxed{...}` groups, found in one pass over the text."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_BOXES = 200
UNCLOSED_CHARS = 200

_LENIENT = re.compile(r"\\\{|\\\}|\\\\|\\boxed\s*\{|\\fbox\s*\{|boxed\s*\{|fbox\s*\{|\{|\}")
"""Alternatives that begin with a letter each: the scan for the next one then runs in C."""
_LITERAL = re.compile(r"\\boxed\{|\{|\}")


class Boxes(NamedTuple):
    """The contents of the outermost balanced boxes in order, and of a box left open at the end."""

    closed: list[str]
    unclosed: str | None


class _Spans(NamedTuple):
    """Where the contents of boxes stand: of the outermost that are closed, and of open ones."""

    closed: list[tuple[int, int]]
    open: list[int]


def find_boxes(text: str) -> Boxes:
    r"""Find every `\boxed{...}` (also `boxed{`, `\fbox{` and with a space before the brace).

    Linear in the length of the text whatever its braces do. A box inside a box is part of the
    outer one; escaped braces are text. Of many boxes the last 200 are kept.

    Args:
        text: What a model wrote.

    Returns:
        The contents of closed boxes in order, and of a last one that is never closed, where it
        stands within the last 200 characters.
    """
    # Braces before the first box say nothing about any.
    places = (text.find("boxed"), text.find("fbox")) if "box" in text else ()
    starts = [place for place in places if place >= 0]
    spans = _scan(text, _LENIENT, min(starts)) if starts else _Spans([], [])
    closed = [text[start:end] for start, end in spans.closed[-MAX_BOXES:]]
    unclosed = None
    if spans.open and len(text) - spans.open[-1] <= UNCLOSED_CHARS:
        unclosed = text[spans.open[-1] :]
    return Boxes(closed, unclosed)


def find_literal_boxes(text: str) -> list[str]:
    r"""Find `\boxed{...}` in this spelling alone, by counting braces, escaped ones too.

    As published scoring scripts do: a box that is never closed hides all that follows it.

    Args:
        text: What a model wrote.

    Returns:
        The contents of the outermost boxes in order, up to the first that is never closed.
    """
    first = text.find("\\boxed{")
    if first < 0:
        return []
    spans = _scan(text, _LITERAL, first)
    end = spans.open[0] if spans.open else len(text)
    return [text[start:stop] for start, stop in spans.closed if start < end]


def _scan(text: str, tokens: re.Pattern[str], first: int) -> _Spans:
    """Match every brace from the place `first` on; what is left at the end is open."""
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
