"""Rule book `usnco-v`: one option letter A to D, by the strict pattern of USNCO-V's methods.

A response that is a letter is that letter. From a longer one the last standalone capital A to D
is taken (the zero-shot template asks for the letter alone, the chain-of-thought template for it
at the end; the paper does not print its pattern). Anything else is invalid and counts as wrong.

Known weaknesses, kept: the article in "A simple titration" is a letter when none follows, and a
remark on another option after the answer takes its place. Problems with other options than A to
D and open answers are outside this rule: every response to them is `unparsed`.
"""

from __future__ import annotations

import re

from omibench.answers.extraction.failures import failure
from omibench.rule_books.outcome import find_finish_reason, make_failed_verdict, passes_through
from omibench.rule_books.registry import rule_book
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.text.visible import drop_hidden_text

NAME = "usnco-v"
VERSION = 1

_STANDALONE = re.compile(r"(?<![A-Za-z0-9'’_\\])[A-D](?![A-Za-z0-9'’_])")


@rule_book(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Score one response by its one option letter."""
    blocked = passes_through(item, NAME, VERSION)
    if blocked:
        return blocked
    body = drop_hidden_text(item.prediction)
    letters = _STANDALONE.findall(body)
    if not letters or item.answer_type != "mcq":
        outcome = failure(body, find_finish_reason(item)) or "unparsed"
        return make_failed_verdict(outcome, "none", NAME, VERSION)
    right = letters[-1] == "".join(item.gold).strip().upper()
    return Verdict(
        extracted=letters[-1],
        method="letter" if body == letters[-1] else "last standalone letter",
        verdict=float(right),
        rules=NAME,
        version=VERSION,
    )
