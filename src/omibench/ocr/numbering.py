"""How exam papers number their problems: `1.`, `Problem 3`, `第5题`, `Q7`, `(D01.1)`."""

from __future__ import annotations

import re
from typing import NamedTuple

from omibench.ocr.layout import Line

_WORDS = (
    "problem|question|exercise|item|task|problema|pregunta|ejercicio|reactivo|quest[aã]o|exerc[ií]cio|"
    "aufgabe|frage|probl[eè]me|exercice"
)
_CHINESE = "零一二三四五六七八九十"
_STYLES = (
    ("word", re.compile(rf"(?:{_WORDS})\s*(?:n[oº°.]*\s*)?(\d{{1,3}})\b\s*[.:)\-–—]?\s*", re.I)),
    ("di", re.compile(rf"第\s*(\d{{1,3}}|[{_CHINESE}]{{1,3}})\s*题\s*[.:：、．)）]?\s*")),
    ("example", re.compile(r"例\s*(\d{1,3})\s*[.:：、．)）]?\s*")),
    ("letter", re.compile(r"[QT]\s*\.?\s*(\d{1,3})\b\s*[.:)]?\s*")),
    ("code", re.compile(r"\([A-Z](\d{1,2})(?:\.\d{1,2})?\)\s*")),
    ("plain", re.compile(r"\**(\d{1,3})\s*(?:[.．、]|[)）])(?!\d)\s*")),
    ("heading", re.compile(r"[A-Z][A-Za-z]+(?: [A-Z]?[a-z]+){0,2} (\d{1,2})\s*:\s*(?=\S)")),
)


class Number(NamedTuple):
    """A possible problem number: its value, how it is written, and where the text begins."""

    value: int
    style: str
    end: int


def number_of(text: str) -> Number | None:
    """The number with which a line begins, if it looks like that of a problem."""
    for style, pattern in _STYLES:
        match = pattern.match(text)
        if match and (value := _value(match[1])):
            return Number(value, style, match.end())
    return None


def looks_numbered(line: Line) -> bool:
    """Whether a line begins with what may be the number of a problem."""
    number = number_of(line.text)
    return number is not None and (number.end < len(line.text) or number.style != "plain")


def _value(digits: str) -> int:
    if digits.isdigit():
        return int(digits)
    tens, _, ones = digits.rpartition("十")
    if "十" not in digits:
        return _CHINESE.index(digits) if len(digits) == 1 else 0
    return (_CHINESE.index(tens) if tens else 1) * 10 + (_CHINESE.index(ones) if ones else 0)
