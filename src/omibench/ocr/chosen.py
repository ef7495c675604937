"""Printed answers of multiple-choice problems as letters of their choices, where certain."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omibench.problem import Choice

_LETTER_AND_TEXT = re.compile(r"[(（\[]?(?P<letter>[A-Za-z])[)）\].:．、\s]\s*(?P<text>.+)")
_LETTERS = re.compile(r"[A-Z]{2,8}|[(（]?[a-z][)）]?\.?(?:\s*[,/&、]\s*[(（]?[a-z][)）]?)*")


def as_letters(answer: Sequence[str], choices: Sequence[Choice] | None) -> list[str]:
    """The answer with letters as the choices have them; as it was printed where it names none.

    `b` and `(b)` are B, `ACD` is A, C, D; `B) 5 m` is B when the bracket or the text of choice B
    says so; a text that is that of exactly one choice is its letter.
    """
    if not choices:
        return list(answer)
    labels = [choice.label for choice in choices]
    given = [letter for text in answer for letter in _letters(text, choices, labels)]
    return given or list(answer)


def _letters(text: str, choices: Sequence[Choice], labels: Sequence[str]) -> list[str]:
    if text in labels:
        return [text]
    if _LETTERS.fullmatch(text):
        found = re.findall(r"[A-Z]", text.upper())
        known = all(letter in labels for letter in found) and found == sorted(set(found))
        return found if known else [text]
    match = _LETTER_AND_TEXT.fullmatch(text)
    if match and match["letter"].upper() in labels:
        own = choices[labels.index(match["letter"].upper())].text or ""
        if _plain(own) == _plain(match["text"]) or re.match(r"[(（\[]?[A-Z][)）\]]", text):
            return [match["letter"].upper()]
    same = [
        choice.label for choice in choices if choice.text and _plain(choice.text) == _plain(text)
    ]
    return same if len(same) == 1 else [text]


def _plain(text: str) -> str:
    return re.sub(r"[\s.$。．]+", "", text).casefold()
