"""Scorer `omibench`: matching accuracy as printed in OMIBench, appendix C.1, flaws included.

Text and equations: after normalisation, longest common subsequence / longer length >= 0.75 (eq.
6). Numeric references, a number with an optional unit and nothing else: |prediction - gold| <=
1e-4 (eq. 7); if the prediction is not such a number, both are compared as text. Choices: the
content of the box must be the gold label or, if it is not a label, the gold option's text.

Eq. 5 takes an indicator and eq. 6 returns a ratio: `verdict` is the indicator, `ratio` the value
of eq. 6, or of eq. 7, which is 0 or 1.

Known weaknesses, reproduced: the ratio ignores signs, single digits and truth values; a fraction
or a root is text, so 1/2 is not 0.5; the absolute tolerance makes all numbers below 1e-4 equal;
units are not compared. The paper does not specify the comparison without a box (here: the whole
response) nor how entries of a gold answer are joined (here: all of them, by ", ").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from glyphtex import lazy_re as re
from omibench.answers.extraction.failures import failure
from omibench.answers.formulas.latex import tidy
from omibench.answers.quantity import quantity
from omibench.answers.scorers.outcome import find_finish_reason, make_failed_verdict, passes_through
from omibench.answers.scorers.registry import scorer
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.text.boxes import find_boxes
from omibench.text.visible import drop_hidden_text

NAME = "omibench"
VERSION = 2
LCS_RATIO = 0.75
EPSILON = 1e-4
MAX_CHARS = 4_000
"""Only the first 4,000 characters of answers are compared: the LCS takes quadratic time."""
NUMBER_CHARS = 400
"""A longer text is not a number."""

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)"
_POWER = r"(?:\s*[×*xX]\s*10\s*\^\s*\{?\s*[+-]?\s*\d+\s*\}?|[eE][+-]?\d+)"
_NUMBER = re.compile(
    rf"[+-]?\s*(?:10\s*\^\s*\{{\s*[+-]?\s*\d+\s*\}}|{_DIGITS}{_POWER}?)"
    r"(?!\s*/\s*\d)(?:[^\d+=<>±√^-]|\^\s*\{\s*[+-]?\d+\s*\})*"
)
"""A tidied text with one number, with or without a power of ten, and no other digits than those in
exponents of units.
"""


class AnswerMatching(NamedTuple):
    """Method by which an answer matches its gold answer, or None, and the value of eq. 6 or 7."""

    reason: str | None
    value: float


@scorer(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Score one response by the printed rules."""
    blocked = passes_through(item, NAME, VERSION)
    if blocked:
        return blocked
    body = drop_hidden_text(item.prediction)
    closed = find_boxes(body).closed
    if not closed:
        outcome = failure(body, find_finish_reason(item))
        if outcome:
            return make_failed_verdict(outcome, "none", NAME, VERSION)
    extracted = (closed[-1] if closed else body).strip()[:MAX_CHARS]
    if not extracted:
        return make_failed_verdict("unparsed", "empty box", NAME, VERSION)
    matching = (
        _match_choice(item, extracted)
        if item.answer_type == "mcq"
        else _match_open(item.gold, extracted)
    )
    return Verdict(
        extracted=extracted,
        method=f"{'box' if closed else 'whole'} > {matching.reason or 'no match'}",
        verdict=float(matching.reason is not None),
        ratio=matching.value,
        rules=NAME,
        version=VERSION,
    )


def normalise(text: str) -> str:
    """Normalise: lower case, single spaces, no punctuation outside alphanumeric tokens (C.1)."""
    text = re.sub(r"(?<!\w)[.,?]|[.,?](?!\w)", "", text.lower())
    text = re.sub(r"[:;]+(?=\s|$)", "", text)
    return " ".join(text.split())


def lcs_ratio(a: str, b: str) -> float:
    """Return the LCS length over the longer length; 1 for two empty texts."""
    return float(LCSseq.normalized_similarity(a, b))


def read_number(text: str) -> float | None:
    """Parse a text that is a number with an optional unit, and nothing else (C.1, eq. 7).

    A power of ten is part of a number, as in `4.7 × 10⁻¹²`. Fractions, roots, sums, errors (1.6
    ± 0.1) and lists are not numbers, nor is a number followed by anything but a unit or counted
    noun.

    Args:
        text: Gold answer, or the answer of a response.

    Returns:
        The value without its unit, a percentage as printed; None for any other text.
    """
    if len(text) > NUMBER_CHARS or not _NUMBER.fullmatch(tidy(text)):
        return None
    measured = quantity(text)
    return None if measured is None else measured.value


def _match_choice(item: ScoredItem, extracted: str) -> AnswerMatching:
    gold, answer = normalise("".join(item.gold)), normalise(extracted)
    if answer == gold:
        return AnswerMatching("label", 1.0)
    labels = {c.label.lower() for c in item.choices or []}
    texts = {normalise(c.text) for c in item.choices or [] if c.label.lower() == gold and c.text}
    if answer not in labels and answer in texts:
        return AnswerMatching("option text", 1.0)
    return AnswerMatching(None, 0.0)


def _match_open(gold: Sequence[str], extracted: str) -> AnswerMatching:
    """Compare two numbers by eq. 7, all else by eq. 6; only a gold of one entry is a number."""
    gold_number = read_number(gold[0]) if len(gold) == 1 else None
    if gold_number is not None:
        number = read_number(extracted)
        if number is not None:
            near = abs(number - gold_number) <= EPSILON
            return AnswerMatching("number" if near else None, float(near))
    ratio = lcs_ratio(normalise(extracted), normalise(", ".join(gold)[:MAX_CHARS]))
    return AnswerMatching("lcs", ratio) if ratio >= LCS_RATIO else AnswerMatching(None, 0.0)
