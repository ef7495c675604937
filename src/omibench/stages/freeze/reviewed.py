"""Problems after review: decisions in YAML, then the settled tasks of a review."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from omibench.errors import MissingInputError, ParamsError
from omibench.params.review import ReviewParams
from omibench.review import Decision, apply, load_decisions
from omibench.review.apply import rejections, valid_decisions
from omibench.review.folder import ReviewRecord, raise_bad_lines, read_review
from omibench.review.importing import list_wrong_decisions
from omibench.review.kinds import find_kind
from omibench.review.record import compute_head
from omibench.review.settle import ORDER, ReviewRule, SettledReview, settle_problems
from omibench.schemas.problem import Problem
from omibench.schemas.review import ReviewCounts
from omibench.schemas.tables import read_jsonl
from omibench.schemas.validation import suggest_name

LISTED: Final = 20
"""Maximum number of problems or tasks in a message."""
log = logging.getLogger("omibench.stages.freeze")


def review_problems(file: Path, params: ReviewParams) -> tuple[list[Problem], ReviewCounts | None]:
    """Return the problems of a file after review.

    The decisions of `review.decisions` apply first, so that tasks of `review.folder` are about
    problems with these edits.

    Args:
        file: The problems.jsonl of `rationale`.
        params: The paths of the decisions, and the required number of people.

    Returns:
        The problems in order, and the result of the review in the folder; None without a folder.

    Raises:
        MissingInputError: Problems lack reviews, or tasks are escalated or stale; they are listed.
            Also if the folder has no tasks.
        FileFormatError: A line of the review cannot be read, people contradict each other in the
            YAML file, or an edit does not fit its problem.
        ParamsError: `review.kinds` has a kind that does not apply to datasets.
    """
    problems = read_jsonl(file, Problem)
    decisions = load_decisions(params.decisions) if params.decisions else []
    if params.decisions:
        problems = apply(decisions, problems, partial(rejections, file))
    if params.folder is None:
        return problems, None
    _check_kinds(params.kinds)
    record = read_review(Path(params.folder))
    raise_bad_lines((*record.errors, *list_wrong_decisions(record)))
    _warn_of_others(record)
    rule = ReviewRule(params.reviewers, tuple(params.kinds))
    review = settle_problems(
        problems,
        record.tasks,
        record.decisions,
        rule,
        list_reviewed(decisions, params.reviewers),
    )
    _refuse_unsettled(review, params)
    left = {problem.id for problem in review.problems}
    counts = ReviewCounts(
        reviewers=params.reviewers,
        kinds=params.kinds,
        problems=len(review.settled & left),
        dropped=len(review.dropped),
        people=len(review.people),
        simulated_people=len(review.simulated),
        unsettled=len(review.escalated) + len(review.stale),
        head=compute_head(record.decisions),
    )
    return review.problems, counts


def list_reviewed(decisions: Sequence[Decision], reviewers: int) -> set[str]:
    """Return ids of problems with enough decisions in YAML, or a senior's binding one."""
    per_problem: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        per_problem[decision.problem].append(decision)
    return {
        problem
        for problem, on_problem in per_problem.items()
        if len({decision.reviewer for decision in on_problem}) >= reviewers
        or any(decision.binding for decision in valid_decisions(on_problem))
    }


def _check_kinds(kinds: Sequence[str]) -> None:
    for kind in kinds:
        find_kind(kind)
        if kind not in ORDER:
            raise ParamsError(
                f"review.kinds: {kind!r} does not apply to datasets{suggest_name(kind, ORDER)}"
            )


def _warn_of_others(record: ReviewRecord) -> None:
    """Warn of people who decided but are not in reviewers.yaml."""
    known = {reviewer.name for reviewer in record.reviewers}
    others = sorted({decision.person for decision in record.decisions} - known)
    if others:
        log.warning(
            "freeze: decisions of people who are not in reviewers.yaml count: %s%s; check who they "
            "are, and keep former reviewers in the list",
            ", ".join(others[:LISTED]),
            " and more" * (len(others) > LISTED),
        )


def _refuse_unsettled(review: SettledReview, params: ReviewParams) -> None:
    """Raise MissingInputError with one line per unsettled thing, or warn of it."""
    lines = [
        f"freeze: {len(items)} {what}: {_list_first(items)}; {advice}"
        for what, items, advice in (
            (
                f"tasks are under-reviewed (review.reviewers: {params.reviewers})",
                review.lacking,
                "complete them (`omibench review assign`, `serve`; `export --live` adds decisions "
                "of a running application), or require fewer reviewers",
            ),
            (
                "tasks are escalated",
                review.escalated,
                "a senior reviewer must settle them",
            ),
            (
                "tasks were decided on content that has changed",
                review.stale,
                "make them again (`omibench review assign`) and decide them",
            ),
        )
        if items
    ]
    if params.reviewers and lines:
        raise MissingInputError(*lines)
    for line in lines:
        log.warning("%s", line)


def _list_first(items: Sequence[str]) -> str:
    more = f" and {len(items) - LISTED} more" if len(items) > LISTED else ""
    return ", ".join(items[:LISTED]) + more
