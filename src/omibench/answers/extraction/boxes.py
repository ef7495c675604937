"""Balanced `\\boxed{...}` groups, found in one pass over the text."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_BOXES = 200

_TOKEN = re.compile(r"\\\{|\\\}|\\\\|\\boxed\s*\{|\\fbox\s*\{|boxed\s*\{|fbox\s*\{|\{|\}")
"""Alternatives that begin with a letter each: the scan for the next one then runs in C."""
UNCLOSED_CHARS = 200


class Boxes(NamedTuple):
    """The contents of the outermost balanced boxes in order, and of a box left open at the end."""

    closed: list[str]
    unclosed: str | None


def find_boxes(text: str) -> Boxes:
    """Find every `\\boxed{...}` (also `boxed{`, `\\fbox{` and with a space before the brace).

    Linear in the length of the text whatever its braces do. A box inside a box is part of the
    outer one; escaped braces are text. Of many boxes the last 200 are kept.
    """
    stack: list[tuple[int, bool]] = []
    spans: list[tuple[int, int]] = []
    # Braces before the first box say nothing about any.
    found = (text.find("boxed"), text.find("fbox")) if "box" in text else ()
    names = [at for at in found if at >= 0]
    for token in _TOKEN.finditer(text, min(names)) if names else ():
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
    closed = [text[a:b] for a, b in spans[-MAX_BOXES:]]
    open_boxes = [start for start, is_box in stack if is_box]
    unclosed = None
    if open_boxes and len(text) - open_boxes[-1] <= UNCLOSED_CHARS:
        unclosed = text[open_boxes[-1] :]
    return Boxes(closed, unclosed)
