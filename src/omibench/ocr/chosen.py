"""Printed answers of multiple-choice problems as letters of their choices, where certain."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omibench.ocr.lettering import LATIN, is_foreign, labels_in
from omibench.problem import Choice

_LETTER_AND_TEXT = re.compile(r"[(（\[]?(?P<letter>[A-Za-z])[)）\].:．、\s]\s*(?P<text>.+)")
_LETTER_AND_REST = re.compile(r"(?P<letter>[(（\[]?\w[)）\].:．、：\s]+|[①-⑳])\s*(?P<text>.+)")
_LETTERS = re.compile(r"[A-Z]{2,8}|[(（]?[a-z][)）]?\.?(?:\s*[,/&、]\s*[(（]?[a-z][)）]?)*")


def as_letters(answer: Sequence[str], choices: Sequence[Choice] | None) -> list[str]:
    """The answer with letters as the choices have them; as it was printed where it names none.

    `b` and `(b)` are B, `ACD` is A, C, D; `B) 5 m` is B when the bracket or the text of choice B
    says so; a text that is that of exactly one choice is its letter. Other scripts likewise, with
    their own letters. Empty where it could mean two choices: a letter of another script than the
    choices', or a bare number that is one choice's label and another one's text.
    """
    if not choices:
        return list(answer)
    labels = [choice.label for choice in choices]
    if any(is_foreign(text, labels) or _is_torn(text, choices) for text in answer):
        return []
    read = _letters if labels[0] in LATIN else _letters_elsewhere
    given = [letter for text in answer for letter in read(text, choices, labels)]
    return given or list(answer)


def _is_torn(text: str, choices: Sequence[Choice]) -> bool:
    """Whether a bare number is the label of one choice and the text of another."""
    same = [choice.label for choice in choices if choice.text and _plain(choice.text) == text]
    named = labels_in(text, [choice.label for choice in choices])
    return text.isdecimal() and bool(same) and bool(named) and same != named


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
    return _by_text(text, choices)


def _letters_elsewhere(text: str, choices: Sequence[Choice], labels: Sequence[str]) -> list[str]:
    if found := labels_in(text, labels):
        return found
    match = _LETTER_AND_REST.fullmatch(text)
    named = labels_in(match["letter"], labels) if match else []
    if match and len(named) == 1:
        own = choices[labels.index(named[0])].text or ""
        if _plain(own) == _plain(match["text"]):
            return named
    return _by_text(text, choices)


def _by_text(text: str, choices: Sequence[Choice]) -> list[str]:
    same = [
        choice.label for choice in choices if choice.text and _plain(choice.text) == _plain(text)
    ]
    return same if len(same) == 1 else [text]


def _plain(text: str) -> str:
    return re.sub(r"[\s.$。．]+", "", text).casefold()
