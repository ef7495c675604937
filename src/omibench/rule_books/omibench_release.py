r"""Rule book `omibench-release`: the evaluator released with OMIBench, by its documentation.

Documented (README of the release): option letters are extracted for multiple choice; open answers
are compared after normalisation, by equality or containment. Observed in trials of it: letters go
from A to J and the last pattern takes any that stands alone; one entry of a gold of several is
enough; a gold of one or two characters must be the whole answer; boxes with braces inside are not
opened. What neither says is chosen here: letters are those of the last box, else behind the last
"answer is" or "answer:", else the last that stands alone; normalisation is lower case without
white space, dollars, braces and stops at an end.

Known weaknesses, kept: 105 stands in 31050; "A simple calculation" answers A; `\boxed{5}` in a
sentence is not 5; one part of a list is the whole list.
"""

from __future__ import annotations

import re

from omibench.answers.extraction.failures import failure
from omibench.rule_books.outcome import find_finish_reason, make_failed_verdict, passes_through
from omibench.rule_books.registry import rule_book
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.text.visible import drop_hidden_text

NAME = "omibench-release"
VERSION = 1
CONTAINED_CHARS = 3
"""A shorter gold must be the whole answer: the digit 5 stands in any text."""
EXTRACTED_CHARS = 4_000
"""So much of an open answer, which is the whole response, is kept with the verdict."""

_PLAIN_BOX = re.compile(r"\\boxed\{([^{}]*)\}")
_DROPPED = re.compile(r"[\s${}]+")
_LETTERS = (
    ("box", re.compile(r"\\boxed\{\s*(?:\\text\s*\{\s*)?\(?([A-J])\)?\s*\}")),
    ("phrase", re.compile(r"(?i:answer)(?:\s+(?i:is))?\s*:?\s*\*{0,2}\(?([A-J])\b")),
    ("letter", re.compile(r"\b([A-J])\b")),
)


@rule_book(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Score one response by the rules of the release."""
    blocked = passes_through(item, NAME, VERSION)
    if blocked:
        return blocked
    body = drop_hidden_text(item.prediction)
    if item.answer_type == "mcq":
        extracted, method = find_letter(body)
        reason = "label" if extracted in item.gold else None
    else:
        extracted, method = normalise(item.prediction) or None, "whole"
        reason = find_contained_gold(extracted or "", item.gold)
    outcome = None if reason else failure(body, find_finish_reason(item))
    if extracted is None or outcome:
        return make_failed_verdict(outcome or "unparsed", "none", NAME, VERSION)
    return Verdict(
        extracted=extracted[:EXTRACTED_CHARS], method=f"{method} > {reason or 'no match'}",
        verdict=float(reason is not None), rules=NAME, version=VERSION,
    )  # fmt: skip


def find_letter(body: str) -> tuple[str | None, str]:
    """The option letter A to J of a response (None for none), and the pattern that found it."""
    for method, pattern in _LETTERS:
        letters = pattern.findall(body)
        if letters:
            return letters[-1], method
    return None, "none"


def normalise(text: str) -> str:
    """Lower case, plain boxes opened, without white space, dollars, braces and stops at an end."""
    visible = drop_hidden_text(text).lower()
    return _DROPPED.sub("", _PLAIN_BOX.sub(r"\1", visible)).strip(".,;:")


def find_contained_gold(answer: str, gold: list[str]) -> str | None:
    """How a normalised answer matches any entry of a gold: `equal`, `contained`, None for not."""
    entries = [entry for entry in map(normalise, gold) if entry]
    if answer in entries:
        return "equal"
    contained = (entry for entry in entries if len(entry) >= CONTAINED_CHARS and entry in answer)
    return "contained" if any(contained) else None
