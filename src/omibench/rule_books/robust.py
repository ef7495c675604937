"""Rule book `robust`: our own rules for every benchmark. Extraction first, then matching.

Multiple choice: the set of options named must be the gold's set. Open answers: every part must
match (`omibench.answers.match`); partial credit is the share of parts that do. What cannot be
extracted has an outcome of its own and scores 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from omibench.answers.comparison import Match, share
from omibench.answers.credit import compare_answer, compare_letters, parts_of
from omibench.answers.extraction.extract import Extraction, extract_answer
from omibench.answers.extraction.letters import letters_in
from omibench.answers.formulas.latex import tidy
from omibench.answers.match import match_answer
from omibench.answers.parts import by_comma, by_semicolon, labelled
from omibench.answers.prose import is_prose
from omibench.rule_books.outcome import find_finish_reason, make_failed_verdict, passes_through
from omibench.rule_books.registry import rule_book
from omibench.schemas.verdict import ScoredItem, Verdict

NAME = "robust"
VERSION = 4


class Comparison(NamedTuple):
    """What a response was found to answer, and how it compares; None where it has no answer."""

    found: Extraction
    match: Match | None


def compare(item: ScoredItem) -> Comparison:
    """The extraction and every part's comparison, for a person who asks why."""
    found = _extract_answer(item)
    if found.answer is None:
        return Comparison(found, None)
    if item.answer_type == "mcq":
        return Comparison(found, compare_letters(gold_letters(item), found.answer))
    return Comparison(found, compare_answer(item.gold, found.answer))


@rule_book(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Score one response: `verdict` is 1 where all is right, `credit` the share of parts."""
    blocked = passes_through(item, NAME, VERSION)
    if blocked:
        return blocked
    found = _extract_answer(item)
    if found.answer is None:
        return make_failed_verdict(found.outcome, found.method, NAME, VERSION)
    if item.answer_type == "mcq":
        letters = gold_letters(item)
        how = "letters" if found.answer == letters else None
        credit = 1.0 if how else compare_letters(letters, found.answer).credit
    else:
        how = match_answer(item.gold, found.answer)
        credit = 1.0 if how else share(parts_of(item.gold, found.answer))
    method = f"{found.method} > {how or 'no match'}"
    return Verdict(
        extracted=found.answer, method=method, verdict=float(how is not None), credit=credit,
        rules=NAME, version=VERSION,
    )  # fmt: skip


def _extract_answer(item: ScoredItem) -> Extraction:
    return extract_answer(
        item.prediction,
        item.answer_type,
        item.choices,
        asked(tuple(item.gold)),
        find_finish_reason(item),
    )


@lru_cache(maxsize=4096)
def asked(gold: tuple[str, ...]) -> int:
    """How many parts a gold asks for: its entries, or the labelled or listed parts of its one."""
    if len(gold) > 1:
        return len(gold)
    text = tidy(gold[0])
    lists = by_comma(text) if ", " in text and not is_prose(text) else []
    return max(1, len(labelled(text)), len(by_semicolon(text)), len(lists))


def gold_letters(item: ScoredItem) -> str:
    """The gold of a multiple-choice item as sorted labels; a gold of text is looked up."""
    named = letters_in(", ".join(item.gold), item.choices)
    return named[0] if named else "".join(item.gold).strip().upper()
