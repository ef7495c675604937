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
    place = {
        "paper": problem.source,
        "problem": problem.number,
        "by": _name_people(state),
        "note": "; ".join(d.comment for d in state.decisions if d.comment)[:2_000],
    }
    reason = find_drop(find_kind(_PAGE), fields)
    if reason is not None:
        was = compute_digest(problem.question)
        note = "; ".join(filter(None, (reason, place["note"])))[:2_000]
        return [Correction(**(place | {"note": note}), drop=True, was=was)]
    after = apply_fields(problem, state.task, fields)
    changes: list[dict[str, object]] = []
    if after.question != problem.question:
        changes.append({"text": after.question, "was": compute_digest(problem.question)})
    changes += _list_choice_changes(problem, after)
    if after.answer != problem.answer:
        changes.append({"answer": after.answer or [], "was": describe_answer(problem.answer)})
    return [Correction.model_validate({**place, **change}) for change in changes]


def _list_choice_changes(before: Problem, after: Problem) -> list[dict[str, object]]:
    """Return one change per choice, or one for all if their letters differ."""
    old, new = before.choices or [], after.choices or []
    if [choice.label for choice in old] != [choice.label for choice in new]:
        texts = [ChoiceText(label=c.label, text=c.text or "") for c in new]
        return [{"choices": texts, "was": describe_choices(old)}]
    return [
        {"choice": ChoiceText(label=b.label, text=b.text or ""), "was": a.text or ""}
        for a, b in zip(old, new, strict=True)
        if a.text != b.text
    ]


def _name_people(state: TaskState) -> str:
    """Return who decided, annotators first; simulated people are marked."""
    names = " and ".join(dict.fromkeys(decision.person for decision in state.decisions))
    return (f"{names[:80]} (SIMULATED)" if list_simulated(state) else names)[:100]
