"""Rule book `robust`: our own rules for every benchmark. Extraction first, then matching.

Multiple choice: the set of options named must be the gold's set. Open answers: every part must
match (`omibench.score.match`). What cannot be extracted has an outcome of its own and scores 0.
"""

from __future__ import annotations

from omibench.score.extract import extract
from omibench.score.letters import letters_in
from omibench.score.match import match_answer
from omibench.score.outcome import failed, finish_reason_of, passes_through
from omibench.verdict import ScoredItem, Verdict

NAME = "robust"
VERSION = 2


def score(item: ScoredItem) -> Verdict:
    """Score one response under the robust rules."""
    blocked = passes_through(item, NAME, VERSION)
    if blocked:
        return blocked
    found = extract(
        item.prediction, item.answer_type, item.choices, len(item.gold), finish_reason_of(item)
    )
    if found.answer is None:
        return failed(found.outcome, found.method, NAME, VERSION)
    if item.answer_type == "mcq":
        how = "letters" if found.answer == gold_letters(item) else None
    else:
        how = match_answer(item.gold, found.answer)
    method = f"{found.method} > {how or 'no match'}"
    return Verdict(
        extracted=found.answer, method=method, verdict=float(how is not None), rules=NAME,
        version=VERSION,
    )  # fmt: skip


def gold_letters(item: ScoredItem) -> str:
    """The gold of a multiple-choice item as sorted labels; a gold of text is looked up."""
    named = letters_in(", ".join(item.gold), item.choices)
    return named[0] if named else "".join(item.gold).strip().upper()
