"""Problems of a study as changed by decisions so far."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.review import apply, load_decisions
from omibench.review.apply import rejections
from omibench.review.settle import ReviewIndex, apply_earlier_kinds
from omibench.review_tasks.request import TaskRequest
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl

STAGES = ("rationale", "filter", "ocr")
"""The stages that write problems, last first."""


def find_problems(results: Path) -> Path:
    """Return the problems of the last stage, `RESULTS/rationale/problems.jsonl` first.

    Raises:
        MissingInputError: No stage has written problems.
    """
    for stage in STAGES:
        path = results / stage / "problems.jsonl"
        if path.is_file():
            return path
    raise MissingInputError(
        f"{results}: problems.jsonl not found; run `omibench run`, or pass the file with --problems"
    )


def read_current_problems(request: TaskRequest, path: Path) -> list[Problem]:
    """Return the problems that tasks of a kind are about.

    Args:
        request: The kind, the study, and the decisions so far.
        path: The file of problems.

    Returns:
        The remaining problems, as changed by `review.decisions` and the settled tasks of earlier
        kinds.

    Raises:
        FileFormatError: A file is invalid, or an edit does not fit its problem.
    """
    problems = read_jsonl(path, Problem)
    decisions = request.study.review.decisions
    if decisions:
        problems = _obey_file(decisions, problems, path)
    index = ReviewIndex(request.present, request.decisions)
    current = (apply_earlier_kinds(p, request.kind, index, request.rule) for p in problems)
    return [problem for problem in current if problem is not None]


def _obey_file(decisions: str, problems: Sequence[Problem], path: Path) -> list[Problem]:
    """Apply the decisions file; it can list problems of later stages."""
    ids = {problem.id for problem in problems}
    relevant = [decision for decision in load_decisions(decisions) if decision.problem in ids]
    return apply(relevant, problems, partial(rejections, path))
