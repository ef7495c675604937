"""Rule book `published`: the verdict that was printed beside a recorded response, as it stands."""

from __future__ import annotations

from omibench.rule_books.outcome import make_failed_verdict
from omibench.rule_books.registry import rule_book
from omibench.schemas.verdict import ScoredItem, Verdict

NAME = "published"
VERSION = 1


@rule_book(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Take over the published verdict; a response without one is `unjudged`.

    The stored verdict counts whatever the response looks like: an empty response that the
    publishers counted as wrong is a wrong answer here.
    """
    if item.published_verdict is None:
        return make_failed_verdict("unjudged", "no published verdict", NAME, VERSION)
    return Verdict(
        extracted=None, method="stored verdict", verdict=item.published_verdict, rules=NAME,
        version=VERSION,
    )  # fmt: skip
