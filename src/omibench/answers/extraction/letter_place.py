"""Where a response says its final option letter, and where its answer begins.

Whoever asks a model for the probability of its letter needs what stood before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from omibench.answers.extraction.cues import find_cue_end
from omibench.answers.extraction.extract import extract_answer
from omibench.schemas.problem import Choice
from omibench.text.visible import find_answering_part

NEAR_CHARS = 120
"""The letter stands at most so far behind the words that announce it."""
MOST_LINES = 12
"""Lines above the letter that may belong to the answer."""
_DECLARING = ("box", "json", "tag", "phrase")
_BOX = re.compile(r"(?:boxed|fbox)\s*\{")
_SENTENCE_END = re.compile(r"[.!?][*_)\]]{0,3}\s+|。")
_WORD = re.compile(r"\w")


class LetterPlace(NamedTuple):
    """A response's final letter."""

    letter: str
    start: int
    """Where the letter stands: `text[start] == letter`."""
    answer_start: int
    """Where the answer begins: the sentence with the letter, and what announces it above."""


class LetterMissing(NamedTuple):
    """Why a response has no place for a letter."""

    reason: str


def find_letter_place(text: str, choices: Sequence[Choice] | None) -> LetterPlace | LetterMissing:
    r"""Find the letter that `extract_answer` reads at the place where it is declared.

    That is the last `\boxed{}`, what follows the last cue ("the answer is"), the first line or the
    last one, by how the answer was read; elsewhere the last place where the letter stands alone.

    Args:
        text: The response as the model wrote it.
        choices: The problem's options.

    Returns:
        The place, or the reason why there is none: no option is declared, several are, or the
        letter itself does not stand in the response.
    """
    extraction = extract_answer(text, "mcq", choices)
    if extraction.answer is None:
        return LetterMissing(f"no option is declared ({extraction.outcome})")
    letter = extraction.answer
    if len(letter) > 1:
        return LetterMissing(f"several options are declared ({letter})")
    body = find_answering_part(text)
    offset = text.rfind(body)
    start = _find_letter(body, letter, extraction.method.split(":")[0])
    if start is None:
        return LetterMissing(f"option {letter} is declared in words, not by its letter")
    return LetterPlace(letter, offset + start, offset + _find_answer_start(body, start))


def find_declared_option(text: str, choices: Sequence[Choice] | None) -> str | None:
    """The option, or several, that a text says to be the answer by a box, a tag or a cue.

    Args:
        text: A response, or the beginning of one.
        choices: The problem's options.
    """
    extraction = extract_answer(text, "mcq", choices)
    return extraction.answer if extraction.method.startswith(_DECLARING) else None


def _find_letter(body: str, letter: str, method: str) -> int | None:
    places = [match.start() for match in _make_pattern(letter).finditer(body)]
    begin = _find_declaration(body, method)
    following = (place for place in places if begin is not None and 0 <= place - begin < NEAR_CHARS)
    return next(following, places[-1] if places else None)


def _find_declaration(body: str, method: str) -> int | None:
    """Where the declaration begins that a method of extraction reads; None where it has no mark."""
    if method == "box":
        return max((match.end() for match in _BOX.finditer(body)), default=None)
    if method == "phrase":
        return find_cue_end(body)
    if method in ("lead", "whole"):
        return len(body) - len(body.lstrip())
    if method in ("conclusion", "last line"):
        return _find_sentence(body, len(body.rstrip()))
    return None


def _make_pattern(letter: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9'’\\]){re.escape(letter)}(?![A-Za-z0-9'’])")


def _find_answer_start(body: str, letter: int) -> int:
    """Where the sentence with the letter begins, with the lines above that announce the answer.

    A line above belongs to it when it holds no word, or ends in a sentence with a cue.
    """
    start = _find_sentence(body, letter)
    for _ in range(MOST_LINES):
        end = len(body[:start].rstrip())
        line = body.rfind("\n", 0, end) + 1
        sentence = _find_sentence(body, end)
        if end == 0 or not _WORD.search(body, line, end):
            start = line
        elif find_cue_end(body[sentence:end] + "\n") is not None:
            start = sentence
        else:
            break
    return start


def _find_sentence(body: str, end: int) -> int:
    """Where the sentence begins that ends, or goes on, at `end`; at the latest with its line."""
    line = body.rfind("\n", 0, end) + 1
    ends = [match.end() for match in _SENTENCE_END.finditer(body, line, end)]
    return ends[-1] if ends else line
