"""Scorer `published`: the verdict printed with a recorded response."""

from __future__ import annotations

from omibench.answers.scorers.outcome import make_failed_verdict
from omibench.answers.scorers.registry import scorer
from omibench.schemas.verdict import ScoredItem, Verdict

NAME = "published"
VERSION = 1


@scorer(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Return the published verdict; a response without one is `unjudged`.

    The stored verdict counts regardless of the response: an empty response that the publishers
    counted as wrong is a wrong answer here.
    """
    if item.published_verdict is None:
        return make_failed_verdict("unjudged", "no published verdict", NAME, VERSION)
    return Verdict(
        extracted=None, method="stored verdict", verdict=item.published_verdict, rules=NAME,
        version=VERSION,
    )  # fmt: skip
