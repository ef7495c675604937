"""Answers from keys: tables, lists of letters, and marks inside solutions.

An answer that a key does not give, or gives twice differently, is None: never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from omibench.ocr.columns import rows
from omibench.ocr.layout import Item, Line

_NUMBER = re.compile(
    r"(?:(?:problem|question|problema|pregunta|quest[aã]o|aufgabe|item)\s*|第\s*|Q\s*)?(\d{1,3})\s*[.):．、]?\s*题?",
    re.I,
)
_PAIR = re.compile(r"(\d{1,3})\s*[.):\-–.．、]?\s*[(（]?([A-H])[)）]?(?![\w(])[\s,;|.]*")
_DASH = re.compile(r"[\s—–\-_.·]*")
_CANCELLED = re.compile(r"(?:cancel+ed|void(?:ed)?|annul+ed|anulad[ao]|gestrichen|作废)\W*", re.I)
_LETTER = re.compile(r"[(（]?([A-H])[)）]?[.)]?")
_LETTERS = re.compile(r"[(（]?[A-H][)）]?(?:\s*[,/&]\s*[(（]?[A-H][)）]?)+")
_HEADS = re.compile(
    r"problems?|questions?|numbers?|no\.?|nº|items?|answers?|keys?|problemas?|preguntas?|respuestas?|claves?|"
    r"quest[õo]es|quest[ãa]o|respostas?|gabarito|aufgaben?|antwort(?:en)?|l[öo]sung(?:en)?|题号|答案|编号",
    re.I,
)


@dataclass(slots=True)
class Key:
    """What a key says: number -> answer; `doubtful` numbers are given in two ways."""

    answers: dict[int, list[str]] = field(default_factory=dict)
    cancelled: set[int] = field(default_factory=set)
    blank: set[int] = field(default_factory=set)
    doubtful: set[int] = field(default_factory=set)

    def add(self, number: int, text: str) -> None:
        """Enter what is printed for a number; a second, different answer makes it doubtful."""
        if _DASH.fullmatch(text):
            self.blank.add(number)
        elif _CANCELLED.fullmatch(text):
            self.cancelled.add(number)
        else:
            answer = parse_answer(text)
            if self.answers.setdefault(number, answer) != answer:
                self.doubtful.add(number)

    def get(self, number: int) -> list[str] | None:
        """The answer of a number; None when the key does not give exactly one."""
        if number in self.doubtful | self.cancelled | self.blank:
            return None
        return self.answers.get(number)

    def __len__(self) -> int:
        return len(self.answers) + len(self.cancelled) + len(self.blank)


def parse_answer(text: str) -> list[str]:
    """The parts of a printed answer: letters of a list such as `A, C`, or texts between `;`."""
    text = " ".join(text.split())
    if _LETTERS.fullmatch(text):
        return re.findall(r"[A-H]", text)
    if match := _LETTER.fullmatch(text):
        return [match[1]]
    return [part.strip() for part in re.split(r"\s*[;；](?=\s|$)", text) if part.strip()]


def read_key(flow: Sequence[Item], numbers: Collection[int]) -> Key:
    """Read a key of the problems `numbers` that is a table or a list, whichever gives more."""
    pages: dict[int, list[Line]] = {}
    for item in flow:
        if isinstance(item, Line) and item.upright:
            pages.setdefault(item.page, []).append(item)
    table, grid, listed = Key(), Key(), Key()
    for lines in pages.values():
        found = [[i for i in row if isinstance(i, Line)] for row in rows(lines)]
        _read_table(found, numbers, table)
        _read_grid(found, numbers, grid)
        _read_list(found, numbers, listed)
    return max((table, grid, listed), key=len)


def _read_table(found: Sequence[Sequence[Line]], numbers: Collection[int], key: Key) -> None:
    """Rows of number and answer, once or several times side by side; an answer may wrap."""
    entries: list[tuple[int, list[str]]] = []
    left = None
    for row in found:
        cells = _cells(row, numbers)
        if cells:
            entries += [(number, [text] if text else []) for number, text, _ in cells]
            left = cells[-1][2]
        elif entries and left is not None and row and abs(row[0].box.x0 - left) < 2.5:
            if not _HEADS.fullmatch(row[0].text):
                entries[-1][1].append(" ".join(line.text for line in row))
        else:
            left = None
    for number, texts in entries:
        key.add(number, " ".join(texts))


def _cells(row: Sequence[Line], numbers: Collection[int]) -> list[tuple[int, str, float]]:
    """(number, answer, left edge of the answer) of each pair of a row; none if it is none."""
    cells: list[tuple[int, str, float]] = []
    expects_answer = False
    for line in row:
        match = _NUMBER.fullmatch(line.text)
        if match and int(match[1]) in numbers and not expects_answer:
            cells.append((int(match[1]), "", line.box.x1))
            expects_answer = True
        elif not cells:
            return []
        else:
            number, text, _ = cells[-1]
            edge = line.box.x0 if expects_answer else cells[-1][2]
            cells[-1] = (number, f"{text} {line.text}".strip(), edge)
            expects_answer = False
    return [cell for cell in cells if cell[1]]


def _read_grid(found: Sequence[Sequence[Line]], numbers: Collection[int], key: Key) -> None:
    """A row of numbers above a row of answers, paired by their place."""
    for above, below in pairwise(found):
        heads = [(line, int(line.text)) for line in above if _is_count(line.text)]
        heads = [(line, number) for line, number in heads if number in numbers]
        cells = [line for line in below if not _HEADS.fullmatch(line.text)]
        if len(heads) < 3 or len(heads) != len(cells) or any(_is_count(c.text) for c in cells):
            continue
        for (head, number), cell in zip(heads, cells, strict=True):
            if head.box.grown(6, 0).gap_x(cell.box) < 0:
                key.add(number, cell.text)


def _is_count(text: str) -> bool:
    return text.isdecimal() and len(text) <= 3


def _read_list(found: Sequence[Sequence[Line]], numbers: Collection[int], key: Key) -> None:
    """Lines of nothing but pairs such as `1. B`, `2) C`, `3-A`."""
    for row in found:
        text = " ".join(line.text for line in row)
        pairs = list(_PAIR.finditer(text))
        if pairs and "".join(pair[0] for pair in pairs) == text:
            for pair in pairs:
                if int(pair[1]) in numbers:
                    key.add(int(pair[1]), pair[2])
