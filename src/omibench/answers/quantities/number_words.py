"""Number words as whole answers: "three", "twenty-one", "one hundred". Never in a phrase.

Also words of scale after a number: 1.5 million, 3 dozen.
"""

from __future__ import annotations

import re

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {word: i for i, word in enumerate(_SMALL)} | {
    word: 10 * i for i, word in enumerate(_TENS, 2)
}
_SCALES = {
    "hundreds?": 1e2, "dozens?": 12.0, "thousands?": 1e3, "millions?": 1e6, "billions?": 1e9,
    "trillions?": 1e12, "tausend": 1e3, "millionen": 1e6, "milliarden": 1e9, "milliards?": 1e9,
    "mill(?:ón|ones)": 1e6, "milh(?:ão|ões)": 1e6, "тысяч[аи]?": 1e3, "тыс": 1e3,
    "миллион(?:а|ов)?": 1e6, "млн": 1e6, "миллиард(?:а|ов)?": 1e9, "млрд": 1e9,
    "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8,
}  # fmt: skip
_SCALE = re.compile(
    r"\s*(?:{})(?:\s+of(?=\s)|(?<=тыс)\.|(?<=млн)\.|(?<=млрд)\.)?".format(
        "|".join(rf"(?P<s{i}>{word}(?![^\W_\u4e00-\u9fff]|-))" for i, word in enumerate(_SCALES))
    ),
    re.IGNORECASE,
)


def read_scale(text: str) -> tuple[float, str]:
    """Return the factor of leading scale words in `text`, and the rest of the text."""
    factor, values = 1.0, list(_SCALES.values())
    for _ in range(3):
        match = _SCALE.match(text)
        if match is None:
            break
        factor *= values[int(str(match.lastgroup)[1:])]
        text = text[match.end() :]
    return factor, text.strip()


def spelt_number(text: str) -> float | None:
    """Return the number spelled by the whole `text`, with an optional scale word: two million."""
    word = number_word(text)
    if word is not None:
        return float(word)
    head, _, last = text.strip().rpartition(" ")
    factor, unread = read_scale(last)
    word = None if unread else number_word(head)
    return None if word is None else word * factor


def number_word(text: str) -> int | None:
    """Return the number spelled by the whole `text`, up to 9,999; None for anything else."""
    parts = re.split(r"[\s-]+", text.strip().lower())
    if len(parts) > 8:
        return None
    total = group = 0
    for word in parts:
        unit = _VALUES.get(word)
        if word == "and" and (total or group):
            continue
        if word == "hundred" and 0 < group < 20:
            group *= 100
        elif word == "thousand" and 0 < group < 20 and not total:
            total, group = group * 1000, 0
        elif unit is not None and _fits(unit, group):
            group += unit
        else:
            return None
    return total + group


def _fits(unit: int, group: int) -> bool:
    """Return whether a word of value `unit` can follow words for `group`: 20 1, 300 20, not 3 2."""
    if unit == 0:
        return group == 0
    return group % 100 == 0 or (group % 10 == 0 and group % 100 >= 20 and unit < 10)
