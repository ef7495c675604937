"""Corrections of the reading, from settled page tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from omibench.review.changes import apply_fields, find_drop
from omibench.review.kinds import find_kind
from omibench.review.outcomes import ReviewIndex, ReviewRule, list_simulated
from omibench.review.state import TaskState
from omibench.schemas.problem import Problem
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.stages.ocr.corrections.entry import (
    ChoiceText,
    Correction,
    compute_digest,
    describe_answer,
    describe_choices,
)

_PAGE = "page"


def list_page_corrections(
    problems: Sequence[Problem],
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    rule: ReviewRule,
) -> list[Correction]:
    """Return the corrections from settled page tasks.

    Args:
        problems: Problems read by `ocr`.
        tasks: All tasks of the review.
        decisions: All of its decisions.
        rule: When a task is settled.

    Returns:
        Corrections in the order of the problems: of statement, choices and answer, or a drop.
        Decisions on another reading are ignored.

    Raises:
        FileFormatError: A decision does not fit its problem.
    """
    index = ReviewIndex(tasks, decisions)
    corrections: list[Correction] = []
    for problem in problems:
        state = index.find_state(problem, _PAGE, rule) if problem.pages else None
        if state is not None and state.fields is not None:
            corrections += _list_changes(problem, state)
    return corrections


def _list_changes(problem: Problem, state: TaskState) -> list[Correction]:
    fields = state.fields or {}
    people = " and ".join(dict.fromkeys(decision.person for decision in state.decisions))
    note = "; ".join(d.comment for d in state.decisions if d.comment)[:2_000]
    place = {
        "paper": problem.source,
        "problem": problem.number,
        "by": (f"{people[:80]} (SIMULATED)" if list_simulated(state) else people)[:100],
        "note": note,
    }
    was = compute_digest(problem.question)
    reason = find_drop(find_kind(_PAGE), fields)
    if reason is not None:
        notes = "; ".join(filter(None, (reason, note)))[:2_000]
        return [Correction(**(place | {"note": notes}), drop=True, was=was)]
    after = apply_fields(problem, state.task, fields)
    changes: list[dict[str, object]] = []
    if after.question != problem.question:
        changes.append({"text": after.question, "was": was})
    old = problem.choices or []
    new = [ChoiceText(label=c.label, text=c.text or "") for c in after.choices or []]
    if [choice.label for choice in old] != [choice.label for choice in new]:
        changes.append({"choices": new, "was": describe_choices(old)})
    else:
        changes += [
            {"choice": later, "was": earlier.text or ""}
            for earlier, later in zip(old, new, strict=True)
            if (earlier.text or "") != later.text
        ]
    if after.answer != problem.answer:
        changes.append({"answer": after.answer or [], "was": describe_answer(problem.answer)})
    return [Correction.model_validate({**place, **change}) for change in changes]
