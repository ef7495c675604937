"""The rule books by name: each is one pure function from a scored item to a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from omibench.answers.formulas.symbolic import item_time
from omibench.errors import OmibenchError
from omibench.rule_books import emma, mathreal, omibench, published, robust, usnco_v
from omibench.schemas.validation import did_you_mean
from omibench.schemas.verdict import ScoredItem, Verdict


class RuleBook(NamedTuple):
    """A scoring rule: its name, the version of our implementation, and the rule itself."""

    name: str
    version: int
    score: Callable[[ScoredItem], Verdict]


RULE_BOOKS: dict[str, RuleBook] = {
    module.NAME: RuleBook(module.NAME, module.VERSION, module.score)
    for module in (omibench, emma, usnco_v, mathreal, robust, published)
}


def rule_book(rules: str) -> RuleBook:
    """The rule book of that name; raises OmibenchError naming the nearest one that exists."""
    if rules not in RULE_BOOKS:
        hint = did_you_mean(rules, RULE_BOOKS)
        raise OmibenchError(f"there is no rule book {rules!r}{hint}")
    return RULE_BOOKS[rules]


def score_item(item: ScoredItem, rules: str) -> Verdict:
    """The verdict of one rule book on one response. Raises OmibenchError for an unknown name."""
    with item_time():
        return rule_book(rules).score(item)
