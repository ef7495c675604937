"""Rule book `omibench`: matching accuracy as printed in OMIBench, appendix C.1, warts kept.

Text and equations: after normalisation, longest common subsequence / longer length >= 0.75
(eq. 6 returns the ratio, eq. 5 takes an indicator: the indicator is used). Numeric references:
|prediction - gold| <= 1e-4 (eq. 7) after "removing units and non-numeric suffixes". Choices: the
content of the box must be the gold label or, where it is no label, the gold option's text.

Known weaknesses, kept: the ratio is blind to signs, single digits and truth values; the suffix
rule reads `20\\sqrt{3}` as 20 and the exponent of `4.7 × 10⁻¹²` away; the absolute tolerance makes
all numbers below 1e-4 equal. The paper does not say what is compared where no box is given (here:
the whole response) nor how entries of a gold are joined (here: all of them, by ", ").
"""

from __future__ import annotations

import re

from rapidfuzz.distance import LCSseq

from omibench.answers.extraction.failures import failure
from omibench.rule_books.outcome import find_finish_reason, make_failed_verdict, passes_through
from omibench.rule_books.registry import rule_book
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.text.boxes import find_boxes
from omibench.text.visible import drop_hidden_text

NAME = "omibench"
VERSION = 1
LCS_RATIO = 0.75
EPSILON = 1e-4
MAX_CHARS = 4_000
"""Longer answers are compared by their first 4,000 characters: the LCS costs the product."""

_NUMBER = re.compile(r"\s*\$*\s*([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?)")


@rule_book(NAME, VERSION)
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
    match = (
        _match_choice(item, extracted)
        if item.answer_type == "mcq"
        else _match_open(item, extracted)
    )
    return Verdict(
        extracted=extracted,
        method=f"{'box' if closed else 'whole'} > {match or 'no match'}",
        verdict=float(match is not None),
        rules=NAME,
        version=VERSION,
    )


def normalise(text: str) -> str:
    """Lower case, single spaces, without punctuation outside alphanumeric tokens (C.1)."""
    text = re.sub(r"(?<!\w)[.,?]|[.,?](?!\w)", "", text.lower())
    text = re.sub(r"[:;]+(?=\s|$)", "", text)
    return " ".join(text.split())


def lcs_ratio(a: str, b: str) -> float:
    """Length of the longest common subsequence over the longer length; 1 for two empty texts."""
    return float(LCSseq.normalized_similarity(a, b))


def leading_number(text: str) -> float | None:
    """The number that a text starts with, all that follows taken for a unit or suffix."""
    match = _NUMBER.match(text)
    # `E10`, as a point of a figure may be called, has digits in its exponent alone.
    if match is None or not re.match(r"[-+]?\.?\d", match.group(1)):
        return None
    return float(match.group(1).replace(",", ""))


def _match_choice(item: ScoredItem, extracted: str) -> str | None:
    gold, answer = normalise("".join(item.gold)), normalise(extracted)
    if answer == gold:
        return "label"
    labels = {c.label.lower() for c in item.choices or []}
    texts = {normalise(c.text) for c in item.choices or [] if c.label.lower() == gold and c.text}
    return "option text" if answer not in labels and answer in texts else None


def _match_open(item: ScoredItem, extracted: str) -> str | None:
    if len(item.gold) == 1:
        gold_number, number = leading_number(item.gold[0]), leading_number(extracted)
        if gold_number is not None and number is not None:
            return "number" if abs(number - gold_number) <= EPSILON else None
    ratio = lcs_ratio(normalise(extracted), normalise(", ".join(item.gold)[:MAX_CHARS]))
    return "lcs" if ratio >= LCS_RATIO else None
