"""Outputs of a review for a study: human answers and labels of responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pydantic import JsonValue

from omibench.review.people import Reviewer
from omibench.review.report import compute_states
from omibench.review.state import TaskState
from omibench.schemas.marks import MARKS, NO_ERROR
from omibench.schemas.review import ReviewDecision, ReviewTask

PEOPLE_COLUMNS: Final = ("person", "group", "problem", "answer", "seconds", "simulated")
"""Columns of people.csv, the file of `analyze.people` (docs/results.md)."""
LABEL_COLUMNS: Final = (
    "id", "model", "setting", "index", "response_sha256",
    "label", "error_type", "source", "steps", "wrong_steps", *MARKS, "simulated",
)  # fmt: skip
"""Columns of labels.csv, which `omibench certify` reads (docs/certifying.md)."""
LABEL_KINDS: Final = ("rating", "disagreement", "steps")
"""Kinds that label a response; if several label its correctness, the first one counts."""
Row = dict[str, Any]


def list_answers(
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    reviewers: Iterable[Reviewer] = (),
) -> list[Row]:
    """Return the answers of the human baseline (OMIBench, K), one row per person and problem.

    A person's last answer counts. Familiarisation and answers to problems that have changed since
    are excluded.

    Args:
        tasks: Tasks of the review.
        decisions: Decisions of the review.
        reviewers: People with their groups.

    Returns:
        Rows with `PEOPLE_COLUMNS`; `seconds` is None if no time was measured.
    """
    people = {reviewer.name: reviewer for reviewer in reviewers}
    asked = [task for task in tasks if task.kind == "baseline" and task.purpose == "work"]
    return [
        {
            "person": decision.person,
            "group": people[decision.person].group if decision.person in people else "",
            "problem": state.task.problem,
            "answer": str(decision.fields.get("answer") or ""),
            "seconds": decision.seconds,
            "simulated": decision.simulated,
        }
        for state in compute_states(asked, decisions).values()
        for decision in state.decisions
    ]


def list_labels(tasks: Iterable[ReviewTask], decisions: Iterable[ReviewDecision]) -> list[Row]:
    """Return the settled labels of responses, one row per response.

    Ratings give `label` and marks (OMIBench, J), steps give the number of wrong reasoning steps and
    the type of the first fatal error (B.2), disagreements their source (C.3). Unsettled tasks are
    skipped.

    Args:
        tasks: Tasks of the review.
        decisions: Decisions of the review.

    Returns:
        Rows with `LABEL_COLUMNS`; missing values are None.
    """
    asked = [task for task in tasks if task.kind in LABEL_KINDS and task.purpose == "work"]
    states = sorted(
        compute_states(asked, decisions).values(),
        key=lambda state: LABEL_KINDS.index(state.task.kind),
    )
    rows: dict[tuple[str, str, str, int], Row] = {}
    for state in states:
        response = state.task.response
        if state.fields is None or response is None:
            continue
        place = (response.id, response.model, response.setting, response.index)
        row = rows.setdefault(place, dict.fromkeys(LABEL_COLUMNS))
        row |= dict(zip(LABEL_COLUMNS, (*place, response.sha256), strict=False))
        _fill_label(row, state, state.fields)
    return [rows[place] for place in sorted(rows)]


def _fill_label(row: Row, state: TaskState, fields: Mapping[str, JsonValue]) -> None:
    kind = state.task.kind
    label = fields.get("validation" if kind == "steps" else "label")
    row["label"] = row["label"] or label
    row["simulated"] = bool(row["simulated"]) or any(d.simulated for d in state.decisions)
    if kind == "disagreement":
        row["source"] = fields.get("source")
    elif kind == "rating":
        row |= {mark: fields.get(mark) for mark in MARKS}
    else:
        row["error_type"] = NO_ERROR if label == "right" else fields.get("error_type")
        row["steps"], row["wrong_steps"] = _count_steps(fields.get("steps"))


def _count_steps(values: JsonValue) -> tuple[int, int] | tuple[None, None]:
    """Return the numbers of reasoning steps and of wrong ones; empty without steps."""
    steps: Sequence[JsonValue] = values if isinstance(values, list) else []
    marked = [value for value in steps if value in {"right", "wrong"}]
    return (len(marked), marked.count("wrong")) if marked else (None, None)
