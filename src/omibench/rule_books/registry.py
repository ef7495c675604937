"""The rule books by name: each is one pure function from a scored item to a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from omibench.answers.formulas.symbolic import item_time
from omibench.errors import PluginError
from omibench.plugins import Registry
from omibench.schemas.verdict import ScoredItem, Verdict

Score = Callable[[ScoredItem], Verdict]


class RuleBook(NamedTuple):
    """A scoring rule: its name, the version of its implementation, and the rule itself."""

    name: str
    version: int
    score: Score


RULE_BOOKS: Final[Registry[RuleBook]] = Registry("rule_books", "rule book")


def rule_book(name: str, version: int = 1) -> Callable[[Score], Score]:
    """A decorator that makes a function the rule book `name`.

    The function is pure: one item in, its verdict out, with this name and version in it.

    Args:
        name: What `score.rules` calls it.
        version: Of the implementation; another one where its results change.

    Returns:
        A decorator that returns the function as it is.

    Raises:
        PluginError: Another rule book has this name, or name or version is none.
    """
    RULE_BOOKS.check_name(name)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise PluginError(
            f"rule book {name!r}: its version is {version!r}; give a number from 1 on"
        )

    def register(score: Score) -> Score:
        RULE_BOOKS.add(name, RuleBook(name, version, score), score.__module__)
        return score

    return register


def score_item(item: ScoredItem, rules: str) -> Verdict:
    """The verdict of one rule book on one response.

    Raises:
        PluginError: There is no rule book of this name, or that of a plug-in raised or gave no
            verdict of its own name and version.
    """
    book = RULE_BOOKS.get(rules)
    with item_time(), RULE_BOOKS.calling(rules, item.id):
        verdict = book.score(item)
        if not isinstance(verdict, Verdict):
            raise PluginError(
                f"rule book {rules!r} (of {item.id}): returned {type(verdict).__name__}; return a "
                "Verdict"
            )
        if (verdict.rules, verdict.version) != (book.name, book.version):
            raise PluginError(
                f"rule book {rules!r}: its verdict is of {verdict.rules!r} version "
                f"{verdict.version}, not of version {book.version} as it is registered"
            )
        return verdict
