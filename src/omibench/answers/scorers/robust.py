"""Scorer `robust`: our own rules for every benchmark. Extraction first, then matching.

Multiple choice: the chosen set of options must equal the gold set. Open answers: every part must
match (`omibench.answers.match`); partial credit is the share of matching parts. A response
without an extractable answer has a separate outcome and scores 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from omibench.answers.compare import (
    AnswerMatch,
    compare_answer,
    compare_letters,
    compare_parts,
    share_right,
)
from omibench.answers.extraction.extract import Extraction, extract_answer
from omibench.answers.extraction.letters import read_letters
from omibench.answers.formulas.latex import tidy
from omibench.answers.match import match_answer
from omibench.answers.multipart import by_comma, by_semicolon, split_labelled
from omibench.answers.prose import is_prose
from omibench.answers.scorers.outcome import find_finish_reason, make_failed_verdict, passes_through
from omibench.answers.scorers.registry import scorer
from omibench.schemas.verdict import ScoredItem, Verdict

NAME = "robust"
VERSION = 10


class ItemComparison(NamedTuple):
    """The extracted answer of a response and its comparison; None if it has no answer."""

    extraction: Extraction
    match: AnswerMatch | None


def compare(item: ScoredItem) -> ItemComparison:
    """Return the extraction and every part's comparison, to explain a verdict."""
    extraction = _extract_answer(item)
    if extraction.answer is None:
        return ItemComparison(extraction, None)
    if item.answer_type == "mcq":
        return ItemComparison(extraction, compare_letters(gold_letters(item), extraction.answer))
    return ItemComparison(extraction, compare_answer(item.gold, extraction.answer))


@scorer(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Score one response: `verdict` is 1 if all is correct, `credit` is the share of parts."""
    blocked = passes_through(item, NAME, VERSION)
    if blocked:
        return blocked
    extraction = _extract_answer(item)
    if extraction.answer is None:
        return make_failed_verdict(extraction.outcome, extraction.method, NAME, VERSION)
    if item.answer_type == "mcq":
        letters = gold_letters(item)
        tier = "letters" if extraction.answer == letters else None
        several = len(letters) > 1 or len(extraction.answer) > 1
        wrong = compare_letters(letters, extraction.answer).credit if several and not tier else 0.0
        credit = 1.0 if tier else wrong
    else:
        tier = match_answer(item.gold, extraction.answer)
        credit = 1.0 if tier else share_right(compare_parts(item.gold, extraction.answer))
    method = f"{extraction.method} > {tier or 'no match'}"
    return Verdict(
        extracted=extraction.answer, method=method, verdict=float(tier is not None), credit=credit,
        rules=NAME, version=VERSION,
    )  # fmt: skip


def _extract_answer(item: ScoredItem) -> Extraction:
    return extract_answer(
        item.prediction,
        item.answer_type,
        item.choices,
        count_parts(tuple(item.gold)),
        find_finish_reason(item),
    )


@lru_cache(maxsize=4096)
def count_parts(gold: tuple[str, ...]) -> int:
    """Return the number of gold parts: its entries, or the labelled or listed parts of its one."""
    if len(gold) > 1:
        return len(gold)
    text = tidy(gold[0])
    lists = by_comma(text) if ", " in text and not is_prose(text) else []
    return max(1, len(split_labelled(text)), len(by_semicolon(text)), len(lists))


def gold_letters(item: ScoredItem) -> str:
    """Return the gold answer of a multiple-choice item as sorted labels; texts are looked up."""
    named = read_letters(", ".join(item.gold), item.choices)
    return named[0] if named else "".join(item.gold).strip().upper()
