"""Detect running heads, feet and page numbers by repetition and position."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from omibench.stages.ocr.layout.captions import CAPTION
from omibench.stages.ocr.layout.layout import Box, Line
from omibench.stages.ocr.structure.exam_data import exam_heads
from omibench.stages.ocr.structure.numbering import read_number

_MARGIN = 0.10
_REPEATED = 0.4
_FOOT = 60
_SENTENCE = 20
_APART = 1.25
"""The distance, in line pitches, above which a block is set apart."""
_OPENS = re.compile(r"[(（]?(?:[A-Ha-h]|\d{1,2}|[ivx]{1,4})[)）]\s*\S|[A-H][.．、:：]\s*\S")
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:(?:page|página|pág\.?|seite|p\.)\s*)?\d{1,3}(?:\s*(?:/|of|de|von)\s*\d{1,3})?[\W_]*"
    r"|第\s*\d+\s*页.*|共\s*\d+\s*页",
    re.I,
)


def without_furniture(
    pages: Sequence[Sequence[Line]], heights: Sequence[float], drawn: Sequence[Sequence[Box]]
) -> list[list[Line]]:
    """Return the lines of each page without running heads, feet and page numbers.

    Furniture is text that is equal, except for digits, at one position near the top or bottom of 40
    % of the pages, in a block set apart from the text; also small type or page numbers there, apart
    from text and drawings (`drawn`). The start of a problem, part or choice is furniture only if it
    is equal on all those pages, including digits. A running head with points or time need not be
    set apart.
    """
    literal: Counter[str] = Counter()
    for lines, height in zip(pages, heights, strict=True):
        literal.update({line.text for line in lines if _is_at_edge(line, height)})
    repeated = _find_repeated_lines(pages, heights, drawn, literal)
    heads = exam_heads(pages, heights, _enough(pages))
    body = body_size([line for lines in pages for line in lines])
    return [
        [
            line
            for line in lines
            if id(line) not in heads
            and (
                not _is_at_edge(line, height)
                or CAPTION.fullmatch(line.text)
                or (literal[line.text] == 1 and _names_problem(line.text))
                or _numbers_text(line, lines, literal)
                or not (id(line) in repeated or _stands_apart(line, lines, height, boxes, body))
            )
        ]
        for lines, height, boxes in zip(pages, heights, drawn, strict=True)
    ]


def _find_repeated_lines(
    pages: Sequence[Sequence[Line]],
    heights: Sequence[float],
    drawn: Sequence[Sequence[Box]],
    literal: Counter[str],
) -> set[int]:
    """Return id(line) of lines that repeat, except for digits, at the edge of enough pages."""
    enough, step = _enough(pages), _usual_step(pages)
    pages_by_text: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    places: list[tuple[Line, str, int]] = []
    for number, (lines, height, boxes) in enumerate(zip(pages, heights, drawn, strict=True)):
        for line in lines:
            if _is_at_edge(line, height) and _ends_at_edge(line, lines, height, boxes, step):
                below = line.baseline > height / 2
                place = (line.baseline - height if below else line.baseline) / _slack(line)
                text = _mask_digits(line.text)
                pages_by_text[text, round(place)].add(number)
                places.append((line, text, round(place)))
    return {
        id(line)
        for line, text, place in places
        if len(
            pages_by_text[text, place - 1]
            | pages_by_text[text, place]
            | pages_by_text[text, place + 1]
        )
        >= enough
        and (literal[line.text] >= enough or not _opens(line.text))
    }


def _enough(pages: Sequence[Sequence[Line]]) -> float:
    """Return the minimum number of pages of a running head."""
    return max(2, _REPEATED * len(pages))


def body_size(lines: Sequence[Line]) -> float:
    """Return the type size of most characters, in points; 10 without lines."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _slack(line: Line) -> float:
    """Return the tolerance in points for the position of a running head, since scans are skewed."""
    return 3.0 if line.engine == "textlayer" else line.size


def _opens(text: str) -> bool:
    """Return whether a line starts a problem, a part of one or a choice."""
    number = read_number(text)
    return (number is not None and number.end < len(text)) or _OPENS.match(text) is not None


def _usual_step(pages: Sequence[Sequence[Line]]) -> float:
    """Return the usual distance from one baseline to the next, in points."""
    steps = [
        after.baseline - before.baseline for lines in pages for before, after in pairwise(lines)
    ]
    return median([step for step in steps if 5 < step < 40] or [12.0])


def _ends_at_edge(
    line: Line, lines: Sequence[Line], height: float, boxes: Sequence[Box], step: float
) -> bool:
    """Return whether the block of a line ends before the text of the page begins."""
    down = line.baseline < height / 2
    spans = [(page_line.baseline - 0.7 * page_line.size, page_line.baseline) for page_line in lines]
    spans += [(box.y0, box.y1) for box in boxes]
    if not down:
        spans = [(height - end, height - begin) for begin, end in spans]
    reach = line.baseline if down else height - line.baseline + 0.7 * line.size
    for begin, end in sorted(span for span in spans if span[1] > reach):
        if begin > reach + _APART * step - 0.7 * line.size:
            break
        reach = max(reach, end)
    return reach < _MARGIN * height + line.size


def _names_problem(text: str) -> bool:
    number = read_number(text)
    return number is not None and number.style not in ("plain", "heading")


def _numbers_text(line: Line, lines: Sequence[Line], literal: Counter[str]) -> bool:
    """Return whether a number in the margin has running text next to it, like that of a problem."""
    if not re.fullmatch(r"\d{1,3}[.)]?", line.text):
        return False
    return any(
        abs(neighbour.baseline - line.baseline) < 2
        and 0 <= neighbour.box.x0 - line.box.x1 < 4 * line.size
        and len(neighbour.text) >= _SENTENCE
        and literal[neighbour.text] <= 1
        and not neighbour.text.isupper()
        for neighbour in lines
    )


def _mask_digits(text: str) -> str:
    return re.sub(r"\d+", "#", text).strip().lower()


def _is_at_edge(line: Line, height: float) -> bool:
    middle = line.box.centre[1]
    return middle < _MARGIN * height or middle > (1 - _MARGIN) * height


def _stands_apart(
    line: Line, lines: Sequence[Line], height: float, boxes: Sequence[Box], body: float
) -> bool:
    inner_boxes = [page_line.box for page_line in lines if not _is_at_edge(page_line, height)]
    gap = min((max(0.0, box.gap_y(line.box)) for box in [*inner_boxes, *boxes]), default=99.0)
    if _PAGE_NUMBER.fullmatch(line.text):
        return gap > 0.5 * line.size
    if line.engine != "textlayer" and line.box.centre[1] > height / 2:
        # Sizes are those of boxes here: small capitals look like text.
        return gap > 2.5 * line.size and len(line.text) < _FOOT
    return gap > 1.2 * line.size and line.size < 0.92 * body
