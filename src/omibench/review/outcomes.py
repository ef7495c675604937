"""Effect of review tasks on the problems: dropped, changed, or not settled yet.

Kinds apply in the order of `ORDER`, each to the problem as changed by the kinds before it. A task
therefore counts only if its hash matches that content (`contents.compute_hash`); decisions on other
content are stale.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from omibench.errors import FileFormatError
from omibench.review.changes import apply_fields, find_drop
from omibench.review.contents import (
    PROBLEM_KINDS,
    compute_hash,
    hash_content,
    list_pictures,
    make_content,
    normalise_lines,
)
from omibench.review.kinds import find_kind
from omibench.review.state import TaskState, compute_state, count_needed
from omibench.schemas.problem import Problem
from omibench.schemas.review import ReviewDecision, ReviewTask

PHOTO_KINDS: Final = ("photo_screening", "photo_fields", "photo_conditions")
ORDER: Final = (*PHOTO_KINDS, *PROBLEM_KINDS)
"""The kinds that change a dataset, in the order in which they apply."""


@dataclass(frozen=True)
class ReviewRule:
    """A study's review requirements before it freezes.

    Attributes:
        reviewers: The number of people who decide on each task, at most the kind's own number. With
            0, no decision is required, and one person's decision counts.
        kinds: Kinds in which each applicable problem must be settled.
    """

    reviewers: int = 2
    kinds: tuple[str, ...] = ("item",)

    def count_needed(self, kind: str) -> int:
        """Return the number of people who decide before a task of a kind is settled."""
        return count_needed(find_kind(kind), self.reviewers)


@dataclass
class ReviewOutcome:
    """The result of a review.

    Attributes:
        problems: The remaining problems, in order, as changed.
        dropped: Id of each dropped problem -> the answer that dropped it.
        settled: Ids of problems with a settled task, including dropped ones.
        people: Everyone whose decision counts.
        simulated: Those of them who are simulated.
        lacking: Problems with missing reviews, as `ID (KIND: STATUS)`.
        escalated: Ids of tasks that wait for a senior.
        stale: Ids of unsettled tasks that were decided on other content.
    """

    problems: list[Problem] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    people: set[str] = field(default_factory=set)
    simulated: set[str] = field(default_factory=set)
    lacking: list[str] = field(default_factory=list)
    escalated: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)


class ReviewIndex:
    """Tasks by problem and kind, and the decisions on each."""

    def __init__(self, tasks: Iterable[ReviewTask], decisions: Iterable[ReviewDecision]) -> None:
        self._tasks = {(t.problem, t.kind): t for t in tasks if t.purpose == "work"}
        self._decisions: dict[str, list[ReviewDecision]] = defaultdict(list)
        for decision in decisions:
            self._decisions[decision.task].append(decision)

    def find_state(self, problem: Problem, kind: str, rule: ReviewRule) -> TaskState | None:
        """Return the state of a kind's task on a problem, at its current content.

        Returns None if there is no task or the kind no longer applies.
        """
        task = self._tasks.get((problem.id, kind))
        if task is None:
            return None
        of_problem = kind in PROBLEM_KINDS
        content_hash = (compute_hash if of_problem else _hash_photograph)(task, problem)
        if content_hash is None:
            return None
        return compute_state(
            task.model_copy(update={"content_hash": content_hash}),
            find_kind(kind),
            self._decisions[task.id],
            rule.count_needed(kind),
        )


def apply_decisions(
    problems: Sequence[Problem],
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    rule: ReviewRule,
    decided_elsewhere: Collection[str] = (),
) -> ReviewOutcome:
    """Apply the settled tasks to the problems, and list unsettled ones.

    Args:
        problems: Problems before the review.
        tasks: All tasks of the review; those that are not about problems are ignored.
        decisions: All of its decisions.
        rule: The study's requirements.
        decided_elsewhere: Ids of problems that need no `item` task because another file has
            decisions on them.

    Raises:
        FileFormatError: An edit does not fit its problem.
    """
    index = ReviewIndex(tasks, decisions)
    review = ReviewOutcome()
    photographs = {problem.group: problem for problem in problems if problem.photograph == "real"}
    for first in problems:
        problem = _follow_photograph(first, photographs.get(first.group), index, rule, review)
        if problem is None:
            continue
        needed_kinds = [
            kind
            for kind in (rule.kinds if rule.reviewers else ())
            if kind != "item" or problem.id not in decided_elsewhere
        ]
        _apply_tasks(problem, index, rule, needed_kinds, review)
    return review


def apply_earlier_kinds(
    problem: Problem, kind: str, index: ReviewIndex, rule: ReviewRule
) -> Problem | None:
    """Return the problem that a new task of a kind is about, as changed by the kinds before it.

    Args:
        problem: The problem before the review.
        kind: One of `ORDER`.
        index: Existing tasks and decisions.
        rule: When a task is settled.

    Returns:
        The problem, or None if it is already dropped.

    Raises:
        FileFormatError: An edit does not fit the problem.
    """
    for earlier in ORDER[: ORDER.index(kind)]:
        state = index.find_state(problem, earlier, rule)
        if state is None or state.fields is None:
            continue
        if find_drop(find_kind(earlier), state.fields):
            return None
        problem = _apply_state(problem, state)
    return problem


def list_simulated(state: TaskState) -> list[str]:
    """Return the simulated people who decided on a task."""
    return sorted({d.person for d in state.decisions if d.simulated})


def _apply_tasks(
    problem: Problem,
    index: ReviewIndex,
    rule: ReviewRule,
    needed_kinds: Collection[str],
    review: ReviewOutcome,
) -> None:
    """Note in `review` the problem as changed by its settled tasks, or that it is dropped."""
    unsettled = ReviewOutcome()
    for kind in ORDER:
        state = index.find_state(problem, kind, rule)
        if state is None or state.fields is None:
            _list_unsettled(problem, kind, state, kind in needed_kinds, unsettled)
            continue
        review.settled.add(problem.id)
        review.people |= {decision.person for decision in state.decisions}
        review.simulated |= {*list_simulated(state)}
        if answer := find_drop(find_kind(kind), state.fields):
            review.dropped[problem.id] = f"{kind}, {answer}"
            return
        problem = _apply_state(problem, state)
    review.problems.append(problem)
    review.lacking += unsettled.lacking
    review.escalated += unsettled.escalated
    review.stale += unsettled.stale


def _follow_photograph(
    problem: Problem,
    photograph: Problem | None,
    index: ReviewIndex,
    rule: ReviewRule,
    review: ReviewOutcome,
) -> Problem | None:
    """Return a clean picture as changed by decisions on its photograph; None if dropped.

    It takes question, answer and fields of the photograph, but not its conditions (MathReal, C). It
    is dropped with the photograph, or if it shows another figure. Any other problem is unchanged.
    """
    if problem.photograph != "clean" or photograph is None:
        return problem
    for kind in PHOTO_KINDS:
        state = index.find_state(photograph, kind, rule)
        if state is None or state.fields is None:
            continue
        answer = find_drop(find_kind(kind), state.fields)
        if kind == "photo_fields" and state.fields.get("clean_image") in ("wrong", "none"):
            answer = answer or f"clean_image: {state.fields['clean_image']}"
        if answer:
            review.dropped[problem.id] = f"{kind} of {photograph.id}, {answer}"
            review.settled.add(problem.id)
            return None
        photograph = _apply_state(photograph, state)
        if kind == "photo_fields":
            problem = _apply_state(problem, state)
            review.settled.add(problem.id)
    return problem


def _apply_state(problem: Problem, state: TaskState) -> Problem:
    try:
        return apply_fields(problem, state.task, state.fields or {}, list_simulated(state))
    except FileFormatError as error:
        raise FileFormatError(f"{error}; decide the task again") from None


def _list_unsettled(
    problem: Problem, kind: str, state: TaskState | None, is_needed: bool, review: ReviewOutcome
) -> None:
    if state is None:
        if kind in PROBLEM_KINDS:
            applies = make_content(kind, problem) is not None
        else:
            applies = bool(problem.images) and problem.photograph != "clean"
        if is_needed and applies:
            review.lacking.append(f"{problem.id} ({kind}: no task)")
    elif state.status == "escalated":
        review.escalated.append(state.task.id)
    elif state.stale:
        review.stale.append(state.task.id)
    elif is_needed:
        review.lacking.append(f"{problem.id} ({kind}: {state.status})")


def _hash_photograph(task: ReviewTask, problem: Problem) -> str:
    """Return the hash of a task on a photograph; its first picture is that of the problem.

    A clean picture of its figure, which the problem does not have, is taken from the task.
    """
    texts: dict[str, JsonValue] = {
        "question": problem.question,
        "answer": [*(problem.answer or [])],
        "description": (problem.images[0].caption if problem.images else None) or "",
    }
    content = {name: normalise_lines(texts.get(name, part)) for name, part in task.content.items()}
    images = [picture for picture in task.pictures if picture.part == "image"]
    taken = list_pictures(problem)
    is_same = [picture.sha256 for picture in images[: len(taken)]] == [p.sha256 for p in taken]
    return hash_content(find_kind(task.kind), content, images if is_same else taken)
