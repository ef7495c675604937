"""The contents of a key, and the printed forms of an answer.

An answer that is missing or contradictory in a key is None, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from omibench.latex import split_outside
from omibench.stages.ocr.structure.numbering import format_label, parse_label, roman_value

_NUMBER = re.compile(
    r"[(（\[【]?(?:(?:problems?|questions?|problemas?|preguntas?|quest[ãa]o|aufgabe|frage|item|"
    r"task|exercise|"
    r"probl[èe]me|exercice|第|Q|№|#|n[oº°]\.?)\s*)?"
    r"(?:(?P<section>[A-Z]|[IVX]{1,4}(?=[-.]))[-.]?)?(?P<n>\d{1,3}|[IVX]{1,5})"
    r"\s*(?P<part>[(（.]?[a-h][)）]?)?\s*[.):\]】．、：]*\s*题?\s*[)）】]?",
    re.I,
)
_DASH = re.compile(r"[\s—–\-_.·]*")
CANCELLED = re.compile(
    r"(?:cancel+ed|void(?:ed)?|annul+ed|deleted|removed|withdrawn|anulad[ao]|annul[ée]e?|"
    r"annullat[ao]|"
    r"gestrichen|作废|删除)\W*",
    re.I,
)
_SEMICOLON = re.compile(r"\s*[;；](?=\s|$)")
_LETTER = re.compile(r"[(（\[]?([A-H])[)）\]]?[.)]?")
_LETTERS = re.compile(r"[(（]?[A-H][)）]?(?:\s*[,/&、]\s*[(（]?[A-H][)）]?)+")


@dataclass(slots=True)
class Key:
    """The answers of a key by label; `doubtful` ones are contradictory.

    `unread` contains texts for a number that are not readable as its answer.
    """

    answers: dict[str, list[str]] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    blank: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    unread: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, number: str, text: str, part: str = "") -> None:
        """Add the text for a number; a second, different answer makes it doubtful.

        With a `part`, such as "a", it is the answer of one sub-question.
        """
        if _DASH.fullmatch(text):
            self.blank.add(number)
        elif CANCELLED.fullmatch(text):
            self.cancelled.add(number)
        elif part:
            parts = self.parts.setdefault(number, {})
            if parts.setdefault(part, text) != text:
                self.doubtful.add(number)
            self.answers[number] = [f"({name}) {answer}" for name, answer in parts.items()]
        else:
            answer = parse_answer(text)
            if self.answers.setdefault(number, answer) != answer:
                self.doubtful.add(number)

    def get(self, number: str) -> list[str] | None:
        """Return the answer of a number; None unless the key has exactly one."""
        if number in self.doubtful | self.cancelled | self.blank | self.unread.keys():
            return None
        return self.answers.get(number)

    def __len__(self) -> int:
        return len(self.answers) + len(self.cancelled) + len(self.blank)


class ProblemReference(NamedTuple):
    """Return the problem of a printed number, and the sub-question if given."""

    label: str
    part: str = ""


class Names:
    """The labels of a paper's problems, and the lookup of a printed number.

    A number alone means a problem of `section`, or, without one, the only problem of that number.
    """

    def __init__(self, labels: Collection[str], section: str = "") -> None:
        self._labels = set(labels)
        self._by_value: dict[int, str] = {}
        twice: set[int] = set()
        for label in labels:
            within, value = parse_label(label)
            if not section or within == section:
                twice |= {value} & self._by_value.keys()
                self._by_value[value] = label
        for value in twice:
            del self._by_value[value]

    def find(self, text: str) -> ProblemReference | None:
        """Return the problem of a cell such as `3`, `Q3.`, `B2` or `4 (a)`, if any."""
        match = _NUMBER.fullmatch(text)
        if match is None:
            return None
        digits = match["n"]
        value = int(digits) if digits.isdecimal() else roman_value(digits)
        label = self.label(value, match["section"] or "")
        part = re.sub(r"\W", "", match["part"] or "").lower()
        return ProblemReference(label, part) if label else None

    def label(self, value: int, section: str = "") -> str | None:
        """Return the problem with this number in the printed section, if any."""
        if section and (label := format_label(section.upper(), value)) in self._labels:
            return label
        return None if section and section.upper() not in "QP" else self._by_value.get(value)


def is_number(text: str) -> bool:
    """Return whether a text is a printed problem number, such as `3`, `Q3.`, `B2` or `4 (a)`."""
    return _NUMBER.fullmatch(text) is not None


def parse_answer(text: str) -> list[str]:
    """Split a printed answer: letters of a list such as `A, C`, or texts between `;`."""
    text = " ".join(text.split())
    if _LETTERS.fullmatch(text):
        return re.findall(r"[A-H]", text)
    if match := _LETTER.fullmatch(text):
        return [match[1]]
    return [part.strip() for part in split_outside(_SEMICOLON, text) if part.strip()]
