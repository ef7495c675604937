"""What the tasks of a review make of the problems: which are dropped, changed, or not settled yet.

Kinds of tasks come in the order of `ORDER`, and each is about the problem as those before it have
left it. So a task is taken at the hash that its content has by then (`contents.compute_hash`): what
was decided on other content is stale.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from omibench.errors import FileFormatError
from omibench.review.changes import apply_fields, find_drop
from omibench.review.contents import PROBLEM_KINDS, compute_hash, list_pictures, make_content
from omibench.review.hashing import hash_content, normalise_lines
from omibench.review.kinds import find_kind
from omibench.review.state import TaskState, compute_state, count_needed
from omibench.schemas.problem import Problem
from omibench.schemas.review import ReviewDecision, ReviewTask

PHOTO_KINDS: Final = ("photo_screening", "photo_fields", "photo_conditions")
ORDER: Final = (*PHOTO_KINDS, *PROBLEM_KINDS)
"""The kinds that a dataset obeys, in the order in which they are applied."""


@dataclass(frozen=True)
class ReviewRule:
    """What a study asks of a review before it freezes.

    Attributes:
        reviewers: How many people decide on each task; a kind that asks for fewer needs no more.
            With 0 nobody needs to, and what one person decided counts.
        kinds: Kinds in which each problem must be settled, where they apply to it.
    """

    reviewers: int = 2
    kinds: tuple[str, ...] = ("item",)

    def count_needed(self, kind: str) -> int:
        """How many people decide before a task of a kind is settled."""
        return count_needed(find_kind(kind), self.reviewers)


@dataclass
class SettledReview:
    """What a review makes of problems.

    Attributes:
        problems: Those that are left, in order, as changed.
        dropped: Id of each dropped problem -> the answer that dropped it.
        settled: Ids of the problems of which some task is settled, dropped ones among them.
        people: Everybody whose decision counts.
        simulated: Those of them for whom a program stands in.
        lacking: What is under-reviewed, as `ID (KIND: STATUS)`.
        escalated: Ids of tasks that wait for a senior.
        stale: Ids of tasks that were decided on other content, and are not settled on theirs.
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
        """Where the task of a kind on a problem stands, at the problem's content as it is.

        None where there is no such task, or the kind no longer applies.
        """
        task = self._tasks.get((problem.id, kind))
        if task is None:
            return None
        content_hash = _hash_now(task, problem)
        if content_hash is None:
            return None
        return compute_state(
            task.model_copy(update={"content_hash": content_hash}),
            find_kind(kind),
            self._decisions[task.id],
            rule.count_needed(kind),
        )


def settle_problems(
    problems: Sequence[Problem],
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    rule: ReviewRule,
    settled_elsewhere: Collection[str] = (),
) -> SettledReview:
    """Obey the settled tasks on problems, and list what is not settled.

    Args:
        problems: Problems before the review.
        tasks: All tasks of the review; those on other things than problems are left out.
        decisions: All of its decisions.
        rule: What the study asks for.
        settled_elsewhere: Ids of problems that need no `item` task, since people have decided on
            them in another file.

    Raises:
        FileFormatError: An edit does not fit its problem.
    """
    index = ReviewIndex(tasks, decisions)
    review = SettledReview()
    photographs = {problem.group: problem for problem in problems if problem.photograph == "real"}
    for first in problems:
        problem = _follow_photograph(first, photographs.get(first.group), index, rule, review)
        if problem is None:
            continue
        needed_kinds = [
            kind
            for kind in (rule.kinds if rule.reviewers else ())
            if kind != "item" or problem.id not in settled_elsewhere
        ]
        changed = _settle_problem(problem, index, rule, needed_kinds, review)
        if changed is not None:
            review.problems.append(changed)
    return review


def apply_earlier_kinds(
    problem: Problem, kind: str, index: ReviewIndex, rule: ReviewRule
) -> Problem | None:
    """The problem that a new task of a kind is about: as the kinds before it have left it.

    Args:
        problem: The problem before the review.
        kind: One of `ORDER`.
        index: Tasks and decisions so far.
        rule: When a task is settled.

    Returns:
        The problem; None where it is dropped already.

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
    """People among those who decided on a task for whom a program stands in."""
    return sorted({d.person for d in state.decisions if d.simulated})


def _settle_problem(
    problem: Problem,
    index: ReviewIndex,
    rule: ReviewRule,
    needed_kinds: Collection[str],
    review: SettledReview,
) -> Problem | None:
    """The problem as its settled tasks leave it, noted in `review`; None where one drops it."""
    unsettled = SettledReview()
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
            return None
        problem = _apply_state(problem, state)
    review.lacking += unsettled.lacking
    review.escalated += unsettled.escalated
    review.stale += unsettled.stale
    return problem


def _follow_photograph(
    problem: Problem,
    photograph: Problem | None,
    index: ReviewIndex,
    rule: ReviewRule,
    review: SettledReview,
) -> Problem | None:
    """A clean picture as people leave it who decide on its photograph; None where one drops it.

    It takes question, answer and fields of the photograph, and none of its conditions (MathReal,
    C). It goes where the photograph goes, and where it shows another figure. Any other problem
    stays as it is.
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
        raise FileFormatError(f"{error}; have the task decided again") from None


def _list_unsettled(
    problem: Problem, kind: str, state: TaskState | None, is_needed: bool, review: SettledReview
) -> None:
    if state is None:
        if is_needed and _applies(kind, problem):
            review.lacking.append(f"{problem.id} ({kind}: no task)")
    elif state.status == "escalated":
        review.escalated.append(state.task.id)
    elif state.stale:
        review.stale.append(state.task.id)
    elif is_needed:
        review.lacking.append(f"{problem.id} ({kind}: {state.status})")


def _hash_now(task: ReviewTask, problem: Problem) -> str | None:
    if task.kind in PROBLEM_KINDS:
        return compute_hash(task, problem)
    return _hash_photograph(task, problem)


def _hash_photograph(task: ReviewTask, problem: Problem) -> str:
    """The hash of a task on a photograph, whose first picture is that of the problem.

    A clean picture of its figure, which the problem does not have, counts as the task has it.
    """
    texts: dict[str, JsonValue] = {
        "question": problem.question,
        "answer": [*(problem.answer or [])],
        "description": (problem.images[0].caption if problem.images else None) or "",
    }
    content = {name: normalise_lines(texts.get(name, part)) for name, part in task.content.items()}
    shown = [picture for picture in task.pictures if picture.part == "image"]
    taken = list_pictures(problem)
    is_same = [picture.sha256 for picture in shown[: len(taken)]] == [p.sha256 for p in taken]
    return hash_content(find_kind(task.kind), content, shown if is_same else taken)


def _applies(kind: str, problem: Problem) -> bool:
    """Whether a problem needs a task of a kind."""
    if kind in PROBLEM_KINDS:
        return make_content(kind, problem) is not None
    return bool(problem.images) and problem.photograph != "clean"
