"""Number words of a whole answer: "three", "twenty-one", "one hundred". Never of a phrase."""

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


def number_word(text: str) -> int | None:
    """The number that the whole of `text` spells, up to 9,999; None for anything else."""
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
    """Whether a word of value `unit` may follow words that make `group`: 20 1, 300 20, not 3 2."""
    if unit == 0:
        return group == 0
    return group % 100 == 0 or (group % 10 == 0 and group % 100 >= 20 and unit < 10)
