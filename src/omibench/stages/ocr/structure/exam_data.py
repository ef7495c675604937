"""Detect points and time of an exam in running heads, in many languages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.structure.numbering import read_number
from omibench.stages.ocr.structure.subjects import subject_word

HEAD = 0.18
"""The share of the page, from its top, in which a running head of several lines can be."""
_ALONE = 0.12
_LONGEST = 100
_AMOUNT = r"(?:\d{1,4}(?:[.,:]\d{1,2})?|_{2,}|\.{3,}|…+)"
_POINTS = (
    r"points?|pts?\.?|marks?|score|puntos?|puntaje|pontos?|pontuaç[ãa]o|punkte?n?|punti|bar[èe]me|"
    r"pkt\.?|punkt(?:y|ów)|bod[yůu]?|балл(?:а|ов|ы)?|очк(?:а|ов)"
)
_TIME = (
    r"time(?: allowed| limit)?|duration|tiempo|tempo|duraci[óo]n|duraç[ãa]o|dur[ée]e|durata|"
    r"(?:arbeits|bearbeitungs)?zeit|czas|čas|время"
)
_UNIT = (
    r"min(?:\.|ut(?:e[sn]?|os?|i|y)?)?|h(?:\.|rs?|ours?)?|stunden?|horas?|heures?|ore|godzin\w*|"
    r"hodin\w*|minut\w*|минут\w*|час(?:а|ов)?"
)
_SAYS_POINTS = re.compile(
    rf"(?<!\w)(?:{_AMOUNT}\s*(?:/\s*\d+\s*)?(?:{_POINTS})(?!\w)|"
    rf"(?:{_POINTS})\s*(?:\([^()]{{0,20}}\)\s*)?[:：=]\s*{_AMOUNT}|"
    rf"(?:total|max(?:imum)?|m[áa]ximo)[^\w\d]{{0,3}}\s*{_AMOUNT}\s*(?:{_POINTS})(?!\w))|"
    rf"(?:满分|滿分|満点|配点|总分)\s*[:：]?\s*\d+|\d+\s*点満点|\d+\s*分(?!钟|鐘|间|間|之)",
    re.I,
)
_SAYS_TIME = re.compile(
    rf"(?<!\w)(?:{_TIME})\s*[:：=]\s*{_AMOUNT}|"
    rf"(?<!\w)(?:{_TIME})\s*[:：=]?\s*{_AMOUNT}\s*(?:{_UNIT})(?!\w)|"
    rf"[(,;]\s*{_AMOUNT}\s*(?:{_UNIT})\s*[),;]|"
    rf"(?:考试|考試|試験|制限)?(?:时间|時間)\s*[:：]?\s*\d+\s*(?:分|小时|小時|時間)",
    re.I,
)
_SECTION = re.compile(
    r"(?:section|part|paper|teil|secci|parte|se[çc]|раздел|часть|część|část)", re.I
)


def says_points(text: str) -> bool:
    """Return whether a line gives the number of points: `60 points`, `Points: __`, `满分100`."""
    return len(text) <= _LONGEST and _SAYS_POINTS.search(text) is not None


def says_time(text: str) -> bool:
    """Return whether a line gives the duration of an exam: `Time: 90 minutes`, `(20 min)`."""
    return len(text) <= _LONGEST and _SAYS_TIME.search(text) is not None


def exam_heads(
    pages: Sequence[Sequence[Line]], heights: Sequence[float], enough: float
) -> set[int]:
    """Return id(line) of the lines of running heads with points or time.

    These are lines near the top that are equal, except for digits, at one position of `enough`
    pages, from the first to the last with either; and the first line of a page that has both and is
    not a title. They need not be set apart from the text.
    """
    places: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for number, (lines, height) in enumerate(zip(pages, heights, strict=True)):
        for line in lines:
            if line.baseline < HEAD * height:
                places[_mask_digits(line.text), round(line.baseline / 3)].add(number)
    heads: set[int] = set()
    for lines, height in zip(pages, heights, strict=True):
        top = [line for line in lines if line.baseline < HEAD * height and not _is_numbered(line)]
        repeated = [line for line in top if _count(places, line) >= enough]
        exam_lines = [line for line in repeated if says_points(line.text) or says_time(line.text)]
        if exam_lines:
            lowest = max(line.baseline for line in exam_lines) + 2
            heads |= {id(line) for line in repeated if line.baseline <= lowest}
        first = min(lines, key=lambda line: line.baseline, default=None)
        if first and first.baseline < _ALONE * height and _tells_both(first.text):
            heads.add(id(first))
    return heads


def _count(places: dict[tuple[str, int], set[int]], line: Line) -> int:
    text, place = _mask_digits(line.text), round(line.baseline / 3)
    return len(set().union(*(places.get((text, place + k), set()) for k in (-1, 0, 1))))


def _tells_both(text: str) -> bool:
    return (
        says_points(text)
        and says_time(text)
        and read_number(text) is None
        and not _SECTION.match(text)
        and subject_word(text) is None
    )


def _is_numbered(line: Line) -> bool:
    return read_number(line.text) is not None


def _mask_digits(text: str) -> str:
    return re.sub(r"\d+", "#", text).strip().lower()
