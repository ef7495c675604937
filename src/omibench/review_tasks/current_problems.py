"""The problems of a study as people have left them so far."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.review import apply, load_decisions
from omibench.review.rejected import rejections
from omibench.review.settle import ReviewIndex, apply_earlier_kinds
from omibench.review_tasks.request import TaskRequest
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl

STAGES = ("rationale", "filter", "ocr")
"""The stages that write problems, the last first."""


def find_problems(results: Path) -> Path:
    """The problems that the last stage has written, `RESULTS/rationale/problems.jsonl` first.

    Raises:
        MissingInputError: There are none.
    """
    for stage in STAGES:
        path = results / stage / "problems.jsonl"
        if path.is_file():
            return path
    raise MissingInputError(
        f"{results}: no stage has written problems.jsonl there: run `omibench run`, or name the "
        "file with --problems"
    )


def read_current_problems(request: TaskRequest, path: Path) -> list[Problem]:
    """The problems that tasks of a kind are about now.

    Args:
        request: The kind, the study, and what people have decided so far.
        path: The file of problems.

    Returns:
        Those that are left, as `review.decisions` and the settled tasks of earlier kinds leave
        them.

    Raises:
        FileFormatError: A file is wrong, or an edit does not fit its problem.
    """
    problems = read_jsonl(path, Problem)
    decisions = request.study.review.decisions
    if decisions:
        problems = _obey_file(decisions, problems, path)
    index = ReviewIndex(request.present, request.decisions)
    current = (apply_earlier_kinds(p, request.kind, index, request.rule) for p in problems)
    return [problem for problem in current if problem is not None]


def _obey_file(decisions: str, problems: Sequence[Problem], path: Path) -> list[Problem]:
    """The problems as the decisions file leaves them; it may name some that come later."""
    ids = {problem.id for problem in problems}
    relevant = [decision for decision in load_decisions(decisions) if decision.problem in ids]
    return apply(relevant, problems, partial(rejections, path))
