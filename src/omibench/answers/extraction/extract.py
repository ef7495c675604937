"""Extraction of the answer from a response, with the method used.

Extraction knows the answer type, the choices and the number of parts, but never the gold answer.
It does not guess: a single letter in running text is not an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from omibench.answers.extraction.cues import (
    find_conclusion,
    find_cued_answer,
    last_sentence_letters,
)
from omibench.answers.extraction.failures import failure, is_loop
from omibench.answers.extraction.label_patterns import positional
from omibench.answers.extraction.letters import list_labels, read_letters
from omibench.answers.extraction.structured import json_answer, tagged_answer
from omibench.answers.formulas.latex import tidy
from omibench.answers.parts import SPLITTERS, split_labelled
from omibench.schemas.problem import AnswerType, Choice
from omibench.schemas.verdict import VerdictOutcome
from omibench.text.boxes import Boxes, find_boxes
from omibench.text.visible import drop_hidden_text

WHOLE_CHARS = 1_200
"""Maximum length of a response that is an answer by itself if it is one paragraph without cue."""
_LAST_LINE_CHARS = 200
_VALUE_WORDS = 8
_TABLE = re.compile(r"[$\s]*\|[^\n]*\n\s*\|?\s*:?-{3}")
"""A response that begins with a table is an answer, regardless of the text below the table."""
_SENTENCE = re.compile(r"[a-z]{3}[.!?][*_]*(?:\s|$)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_NO_ANSWER = {"", "none", "n/a", "null", "unknown", "nan", "\\text{none}", "?", "..."}


class Extraction(NamedTuple):
    """An answer and its extraction method, or None and the outcome that explains why."""

    answer: str | None
    method: str
    outcome: VerdictOutcome = "scored"


def extract_answer(
    text: str,
    answer_type: AnswerType,
    choices: Sequence[Choice] | None = None,
    parts: int = 1,
    finish_reason: str | None = None,
) -> Extraction:
    """Extract the answer of a response.

    For `mcq` the answer is the sorted labels ("B", "AC"). For `open` it is the text of the
    answer; boxes are joined by "; " if `parts` > 1. Never raises; runs in time linear in the
    text.
    """
    body = drop_hidden_text(text)
    boxes = find_boxes(body)
    find = _find_choice if answer_type == "mcq" else _find_open
    extraction = find(body, boxes, choices, parts, finish_reason)
    if extraction.outcome == "scored":
        return extraction
    outcome = failure(body, finish_reason) if text.strip() else "empty"
    if outcome is None or (outcome == "empty" and extraction.method != "none"):
        outcome = "unparsed"
    return Extraction(None, extraction.method, outcome)


_NO_EXTRACTION = Extraction(None, "none", "unparsed")


def _find_choice(
    body: str, boxes: Boxes, choices: Sequence[Choice] | None, parts: int, finish_reason: str | None
) -> Extraction:
    def read(candidate: str | None, method: str) -> Extraction | None:
        named = read_letters(candidate, choices) if candidate else None
        return Extraction(named[0], f"{method}: {named[1]}") if named else None

    box = _choose_box(boxes, parts, finish_reason)
    if box is not None:
        extraction = read(box, "box") if not _is_no_answer(box) else None
        return extraction or Extraction(None, "box names no option", "unparsed")
    labels = list_labels(choices)
    candidates: tuple[tuple[str, Callable[[], str | None]], ...] = (
        ("json", lambda: json_answer(body)),
        ("tag", lambda: tagged_answer(body)),
        ("phrase", lambda: _letter_first(find_cued_answer(body), labels)),
        ("lead", lambda: _lead_line(body, labels)),
        ("conclusion", lambda: last_sentence_letters(body, labels)),
        ("last line", lambda: _short(body.rsplit("\n", 1)[-1])),
        ("whole", lambda: _short(body)),
    )
    for method, candidate in candidates:
        extraction = read(candidate(), method)
        if extraction:
            return extraction
    return _NO_EXTRACTION


def _find_open(
    body: str, boxes: Boxes, choices: Sequence[Choice] | None, parts: int, finish_reason: str | None
) -> Extraction:
    box = _choose_box(boxes, parts, finish_reason)
    if box is not None and _is_no_answer(box):
        return Extraction(None, "empty box", "unparsed")
    if box is not None:
        return Extraction(box, "boxes" if parts > 1 and len(boxes.closed) > 1 else "box")
    return (
        _find_stated_answer(body, parts)
        or _find_implied_answer(body, finish_reason)
        or _NO_EXTRACTION
    )


def _find_stated_answer(body: str, parts: int) -> Extraction | None:
    """Return an answer that the response marks as its answer."""
    value = json_answer(body)
    if value:
        return Extraction(value, "json")
    tagged = tagged_answer(body)
    if tagged is not None:
        return None if _is_no_answer(tagged) else Extraction(tagged, "tag")
    phrase = find_cued_answer(body, parts)
    if phrase and not _is_no_answer(phrase) and not is_loop(body):
        return Extraction(phrase, "phrase")
    return None


def _find_implied_answer(body: str, finish_reason: str | None) -> Extraction | None:
    """Return a response that is an answer by itself, or a last line that states a value."""
    if failure(body, finish_reason):
        return None
    paragraphs = re.split(r"\n\s*\n", body)
    last = paragraphs[-1].rsplit("\n", 1)[-1].strip("*_` \t")
    if len(body) <= WHOLE_CHARS and (_is_labelled(body) or _TABLE.match(body)):
        return Extraction(body, "whole")
    reasoned = len(body) > len(last) and _SENTENCE.search(body[: -len(last) or None])
    if reasoned and _states_value(last, alone="\n" not in paragraphs[-1] and len(paragraphs) > 1):
        return Extraction(last, "last line")
    if len(body) <= WHOLE_CHARS and len(paragraphs) == 1:
        return Extraction(
            find_conclusion(body) or body, "conclusion" if find_conclusion(body) else "whole"
        )
    if find_conclusion(last):
        return Extraction(find_conclusion(last), "conclusion")
    return None


def _states_value(line: str, alone: bool) -> bool:
    """Return whether the last line is a value: an equation, a number, or a short paragraph."""
    if len(line) > _LAST_LINE_CHARS:
        return False
    if alone and len(_WORD.findall(line)) <= _VALUE_WORDS and not line.endswith((".", ":", "!")):
        return True
    return re.fullmatch(r"\W*[-+]?\d[\d.,]*\W*|[^=≈]{0,40}[=≈]\s*[^=≈]{1,80}", line) is not None


def _is_labelled(body: str) -> bool:
    """Return whether a response consists of labelled parts only: (1) ... (2) ... from its start."""
    return bool(re.match(r"[\s$*]*[(（]?[1aAi][)）]", body)) and len(split_labelled(tidy(body))) > 1


def _choose_box(boxes: Boxes, parts: int, finish_reason: str | None) -> str | None:
    """Return the last box, or the last boxes joined if one has fewer parts than expected."""
    if not boxes.closed:
        unclosed = boxes.unclosed if finish_reason != "length" else None
        return unclosed.split("\n")[0].rstrip(" $.") if unclosed else None
    last = boxes.closed[-1].strip()
    if parts > 1 and len(boxes.closed) > 1 and not any(len(s(last)) >= parts for s in SPLITTERS):
        return "; ".join(box.strip() for box in boxes.closed[-parts:])
    return last


def _is_no_answer(text: str) -> bool:
    return text.strip(" $.{}").casefold() in _NO_ANSWER


def _letter_first(phrase: str | None, labels: str) -> str | None:
    """Return the letter at the start of a phrase that continues with words: "B, because ..."."""
    if not phrase:
        return phrase
    lead = positional(labels).opens_phrase.match(phrase)
    if lead is None or lead.group(1) not in labels:
        return phrase
    letters = positional(labels).opens_list.match(phrase)
    return phrase if letters and set(letters.groups()).issubset(labels) else lead.group(1)


def _lead_line(body: str, labels: str) -> str | None:
    """Return a letter on the first line: alone, or before a colon, stop, bracket or "because"."""
    first = body.split("\n", 1)[0].strip()
    lead = positional(labels).opens_line.match(first)
    return lead.group(1) if lead and lead.group(1) in labels else None


def _short(text: str) -> str | None:
    text = text.strip().strip("*_` ")
    return text if 0 < len(text) <= _LAST_LINE_CHARS else None
