"""Scorer `mathreal`: boxes, then extraction and grading by a model (MathReal's protocol).

This module does the part without models; `stages.score.judge` calls the models, if any. Loose
accuracy (the paper's Acc) is the mean of the verdicts, strict accuracy (its Acc_str) that of
`strict`, which is 1 if all parts are correct.
"""

from __future__ import annotations

from omibench.answers.extraction.failures import failure
from omibench.answers.scorers.outcome import find_finish_reason, make_failed_verdict, passes_through
from omibench.answers.scorers.registry import scorer
from omibench.schemas.verdict import ScoredItem, Verdict, VerdictOutcome
from omibench.text.boxes import find_boxes
from omibench.text.visible import drop_hidden_text

NAME = "mathreal"
VERSION = 2


@scorer(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Return the verdict if it needs no model.

    Responses without an answer keep their outcome, a boxed answer identical to the gold answer
    gets 1, and the rest is `unjudged` with the boxes, if any, in `extracted`.
    """
    blocked = passes_through(item, NAME, VERSION)
    if blocked:
        return blocked
    body = drop_hidden_text(item.prediction)
    if not body:
        empty: VerdictOutcome = failure(body, find_finish_reason(item)) or "empty"
        return make_failed_verdict(empty, "nothing to read", NAME, VERSION)
    answer = join_boxes(body)
    if answer is None:
        outcome = failure(body, find_finish_reason(item))
        return make_failed_verdict(outcome or "unjudged", "no box", NAME, VERSION)
    if _same(answer, "; ".join(item.gold)):
        return make_graded_verdict(answer, "box > identical", 1.0)
    return Verdict(
        extracted=answer, method="box", verdict=0.0, outcome="unjudged", rules=NAME,
        version=VERSION,
    )  # fmt: skip


def join_boxes(body: str) -> str | None:
    """Return the content of all boxes in order, joined by semicolons; None without a box."""
    boxes = [box.strip() for box in find_boxes(body).closed if box.strip()]
    return "; ".join(boxes) or None


def make_graded_verdict(answer: str, method: str, grade: float, rules: str = NAME) -> Verdict:
    """Return the verdict of a grade in [0, 1]: the loose value; strict only if the grade is 1."""
    return Verdict(
        extracted=answer, method=method, verdict=grade, credit=grade, strict=float(grade == 1),
        rules=rules, version=VERSION,
    )  # fmt: skip


def no_answer(item: ScoredItem) -> VerdictOutcome:
    """Return the outcome of a response in which the extracting model finds no answer."""
    return failure(drop_hidden_text(item.prediction), find_finish_reason(item)) or "unparsed"


def _same(answer: str, gold: str) -> bool:
    return "".join(answer.split()) == "".join(gold.split())
