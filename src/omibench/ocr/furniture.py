"""Running heads, feet and page numbers, found by repetition and by standing apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from omibench.ocr.captions import CAPTION
from omibench.ocr.layout import Box, Line
from omibench.ocr.numbering import number_of

_MARGIN = 0.10
_REPEATED = 0.4
_FOOT = 60
_SENTENCE = 20
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:(?:page|página|pág\.?|seite|p\.)\s*)?\d{1,3}(?:\s*(?:/|of|de|von)\s*\d{1,3})?[\W_]*"
    r"|第\s*\d+\s*页.*|共\s*\d+\s*页",
    re.I,
)


def without_furniture(
    pages: Sequence[Sequence[Line]], heights: Sequence[float], drawn: Sequence[Sequence[Box]]
) -> list[list[Line]]:
    """The lines of each page without running heads, feet and page numbers.

    Furniture is what repeats, digits aside, on 40 % of the pages near their top or bottom, and
    small type or page numbers that stand there apart from text and drawings (`drawn`). "Problem 1",
    "Problem 2", ... at the top of each page are no furniture; the same "Problem 1" on all pages is.
    """
    seen: Counter[str] = Counter()
    literal: Counter[str] = Counter()
    for lines, height in zip(pages, heights, strict=True):
        at_edge = [line for line in lines if _at_edge(line, height)]
        seen.update({_masked(line.text) for line in at_edge})
        literal.update({line.text for line in at_edge})
    enough = max(2, _REPEATED * len(pages))
    body = body_size([line for lines in pages for line in lines])
    return [
        [
            line
            for line in lines
            if not _at_edge(line, height)
            or CAPTION.fullmatch(line.text)
            or (literal[line.text] == 1 and _names_problem(line.text))
            or _numbers_text(line, lines, literal)
            or not (
                seen[_masked(line.text)] >= enough
                or _stands_apart(line, lines, height, boxes, body)
            )
        ]
        for lines, height, boxes in zip(pages, heights, drawn, strict=True)
    ]


def body_size(lines: Sequence[Line]) -> float:
    """The size in which most characters are set, in points; 10 without lines."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _names_problem(text: str) -> bool:
    number = number_of(text)
    return number is not None and number.style not in ("plain", "heading")


def _numbers_text(line: Line, lines: Sequence[Line], literal: Counter[str]) -> bool:
    """Whether a number in the margin has running text beside it, as that of a problem has."""
    if not re.fullmatch(r"\d{1,3}[.)]?", line.text):
        return False
    return any(
        abs(other.baseline - line.baseline) < 2
        and 0 <= other.box.x0 - line.box.x1 < 4 * line.size
        and len(other.text) >= _SENTENCE
        and literal[other.text] <= 1
        and not other.text.isupper()
        for other in lines
    )


def _masked(text: str) -> str:
    return re.sub(r"\d+", "#", text).strip().lower()


def _at_edge(line: Line, height: float) -> bool:
    middle = line.box.centre[1]
    return middle < _MARGIN * height or middle > (1 - _MARGIN) * height


def _stands_apart(
    line: Line, lines: Sequence[Line], height: float, boxes: Sequence[Box], body: float
) -> bool:
    others = [other.box for other in lines if not _at_edge(other, height)]
    gap = min((max(0.0, box.gap_y(line.box)) for box in [*others, *boxes]), default=99.0)
    if _PAGE_NUMBER.fullmatch(line.text):
        return gap > 0.5 * line.size
    if line.engine != "textlayer" and line.box.centre[1] > height / 2:
        # Sizes are those of boxes here: small capitals look like text.
        return gap > 2.5 * line.size and len(line.text) < _FOOT
    return gap > 1.2 * line.size and line.size < 0.92 * body
