"""Position of the final option letter in a response, and of the answer's start.

To compute the probability of the letter, a model needs the text before it.
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
"""Maximum distance between the announcing words and the letter."""
MOST_LINES = 12
"""Maximum number of lines above the letter that can belong to the answer."""
_DECLARING = ("box", "json", "tag", "phrase")
_BOX = re.compile(r"(?:boxed|fbox)\s*\{")
_SENTENCE_END = re.compile(r"[.!?][*_)\]]{0,3}\s+|。")
_WORD = re.compile(r"\w")


class LetterPlace(NamedTuple):
    """Final letter of a response."""

    letter: str
    start: int
    """Position of the letter: `text[start] == letter`."""
    answer_start: int
    """Start of the answer: the sentence with the letter, and the lines above that announce it."""


class LetterMissing(NamedTuple):
    """Reason why a response has no position for a letter."""

    reason: str


def find_letter_place(text: str, choices: Sequence[Choice] | None) -> LetterPlace | LetterMissing:
    r"""Find the letter read by `extract_answer` at the position where it is declared.

    Depending on the extraction method, this is the last `\boxed{}`, the text after the last cue
    ("the answer is"), the first line or the last line; otherwise the last position where the
    letter is a separate word.

    Args:
        text: Response of the model, unchanged.
        choices: Choices of the problem.

    Returns:
        The position, or the reason if not found: no option is declared, several are declared, or
            the letter does not occur in the response.
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
        return LetterMissing(f"option {letter} is declared by its text, not by its letter")
    return LetterPlace(letter, offset + start, offset + _find_answer_start(body, start))


def find_declared_option(text: str, choices: Sequence[Choice] | None) -> str | None:
    """Return the options that a text declares as its answer by a box, a tag or a cue.

    Args:
        text: Response, or its beginning.
        choices: Choices of the problem.
    """
    extraction = extract_answer(text, "mcq", choices)
    return extraction.answer if extraction.method.startswith(_DECLARING) else None


def _find_letter(body: str, letter: str, method: str) -> int | None:
    places = [match.start() for match in _make_pattern(letter).finditer(body)]
    begin = _find_declaration(body, method)
    following = (place for place in places if begin is not None and 0 <= place - begin < NEAR_CHARS)
    return next(following, places[-1] if places else None)


def _find_declaration(body: str, method: str) -> int | None:
    """Return where the declaration read by an extraction method starts; None if it has no mark."""
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
    """Return the start of the sentence with the letter, including lines above that announce it.

    A line above belongs to the answer if it contains no word or ends in a sentence with a cue.
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
    """Return the start of the sentence at `end`, at the earliest the start of its line."""
    line = body.rfind("\n", 0, end) + 1
    ends = [match.end() for match in _SENTENCE_END.finditer(body, line, end)]
    return ends[-1] if ends else line
