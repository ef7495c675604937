r"""Scorer `omibench-release`: the evaluator released with OMIBench, from its documentation.

Documented (README of the release): option letters are extracted for multiple choice; open
answers are compared after normalisation, by equality or containment. Observed in tests of it:
letters are A to J, and the last pattern accepts any separate letter; one entry of a gold answer
with several is enough; a gold answer of one or two characters must be the whole answer; boxes
with inner braces are not opened. Unspecified details are chosen here: letters are those of the
last box, otherwise after the last "answer is" or "answer:", otherwise the last separate one;
normalisation is lower case without white space, dollars, braces and final stops.

Known weaknesses, reproduced: 105 is contained in 31050; "A simple calculation" answers A;
`\boxed{5}` in a sentence is not 5; one part of a list is the whole list.
"""

from __future__ import annotations

from glyphtex import lazy_re as re
from omibench.answers.extraction.failures import failure
from omibench.answers.scorers.outcome import find_finish_reason, make_failed_verdict, passes_through
from omibench.answers.scorers.registry import scorer
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.text.visible import drop_hidden_text

NAME = "omibench-release"
VERSION = 1
CONTAINED_CHARS = 3
"""A shorter gold answer must be the whole answer: the digit 5 occurs in many texts."""
EXTRACTED_CHARS = 4_000
"""Maximum characters of an open answer (the whole response) stored with the verdict."""

_PLAIN_BOX = re.compile(r"\\boxed\{([^{}]*)\}")
_DROPPED = re.compile(r"[\s${}]+")
_LETTERS = (
    ("box", re.compile(r"\\boxed\{\s*(?:\\text\s*\{\s*)?\(?([A-J])\)?\s*\}")),
    ("phrase", re.compile(r"(?i:answer)(?:\s+(?i:is))?\s*:?\s*\*{0,2}\(?([A-J])\b")),
    ("letter", re.compile(r"\b([A-J])\b")),
)


@scorer(NAME, VERSION)
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
    """Return the option letter A to J of a response, or None, and the pattern that found it."""
    for method, pattern in _LETTERS:
        letters = pattern.findall(body)
        if letters:
            return letters[-1], method
    return None, "none"


def normalise(text: str) -> str:
    """Normalise: lower case, plain boxes opened; no white space, dollars, braces or final stops."""
    visible = drop_hidden_text(text).lower()
    return _DROPPED.sub("", _PLAIN_BOX.sub(r"\1", visible)).strip(".,;:")


def find_contained_gold(answer: str, gold: list[str]) -> str | None:
    """Return how a normalised answer matches any gold entry: `equal`, `contained` or None."""
    entries = [entry for entry in map(normalise, gold) if entry]
    if answer in entries:
        return "equal"
    contained = (entry for entry in entries if len(entry) >= CONTAINED_CHARS and entry in answer)
    return "contained" if any(contained) else None
