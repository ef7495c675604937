"""The location of a problem's text on a page, by matching the lines read there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from omibench.schemas.pages import PageLine, PageText
from omibench.schemas.problem import BBox, Problem

_NO_LETTERS = re.compile(r"[\W_]+")
_SHORTEST = 4
"""Minimum letters and digits of a line that identify its place."""
_LEAST = 16
"""Minimum letters and digits of a block: shorter text can be anywhere."""
_HEAD_WORDS = 4
"""Words that can precede the problem's on a line: its number, a subject."""
_GAP_LINES = 2
"""Lines within a block that can be outside the problem's text: a formula, a mark."""


def find_boxes(problem: Problem, page: PageText) -> list[BBox]:
    """Find the boxes of a problem on a page: its text, block by block, and its figures.

    Args:
        problem: The problem; its original if it was translated.
        page: The page as it was read.

    Returns:
        Boxes (x0, y0, x1, y1) in points from the top left of the upright page; empty if no part of
        the problem is found.
    """
    text = _join_texts(problem)
    lines = [line for line in page.lines if not line.left_out]
    figures = [f.bbox for f in problem.images if f.bbox and f.page == page.page]
    return [*_find_blocks(lines, text), *figures]


def scale_box(box: BBox, width: float, height: float) -> BBox:
    """Return a box in points as shares of its page's width and height, within [0, 1]."""
    x0, y0, x1, y1 = box
    return (
        _clamp(x0 / max(width, 1.0)),
        _clamp(y0 / max(height, 1.0)),
        _clamp(x1 / max(width, 1.0)),
        _clamp(y1 / max(height, 1.0)),
    )


def _clamp(share: float) -> float:
    return round(min(1.0, max(0.0, share)), 4)


def _join_texts(problem: Problem) -> str:
    read = problem if problem.original is None else problem.original
    texts = [read.question, *(choice.text or "" for choice in read.choices or [])]
    return "".join(_squeeze(text) for text in texts)


def _squeeze(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()


def _find_blocks(lines: Iterable[PageLine], text: str) -> Iterator[BBox]:
    block: list[PageLine] = []
    gap: list[PageLine] = []
    for line in lines:
        if _belongs(line, text) and _is_beside(line, block):
            block += [*gap, line]
            gap = []
        elif _belongs(line, text):
            yield from _join(block)
            block, gap = [line], []
        elif block:
            gap.append(line)
            if len(gap) > _GAP_LINES:
                yield from _join(block)
                block, gap = [], []
    yield from _join(block)


def _belongs(line: PageLine, text: str) -> bool:
    words = line.text.split()
    readings = (_squeeze("".join(words[start:])) for start in range(_HEAD_WORDS + 1))
    shortest = max(_SHORTEST, len(_squeeze(line.text)) // 2)
    return any(len(reading) >= shortest and reading in text for reading in readings)


def _is_beside(line: PageLine, block: list[PageLine]) -> bool:
    """Return whether a line continues below a block, not in the next column."""
    return bool(block) and line.bbox[3] > block[-1].bbox[1]


def _join(block: list[PageLine]) -> Iterator[BBox]:
    if sum(len(_squeeze(line.text)) for line in block) < _LEAST:
        return
    boxes = [line.bbox for line in block]
    yield (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
