"""Where a whole review stands: what reports, releases and people ask of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from omibench.review.chain import compute_head
from omibench.review.kinds import KINDS
from omibench.review.state import Status, TaskState, compute_state, count_needed
from omibench.schemas.review import ReviewDecision, ReviewTask


@dataclass(frozen=True)
class KindProgress:
    """How many tasks of one kind wait for whom; samples, calibrations and familiarisation apart.

    Attributes:
        kind: Name of the kind.
        open: Tasks that wait for an annotator.
        audit: Those that wait for an auditor.
        escalated: Those that wait for a senior.
        settled: Those that are done.
        people: How many people decided on them.
    """

    kind: str
    open: int = 0
    audit: int = 0
    escalated: int = 0
    settled: int = 0
    people: int = 0

    @property
    def tasks(self) -> int:
        """All of them."""
        return self.open + self.audit + self.escalated + self.settled


@dataclass(frozen=True)
class AgreementFigure:
    """How far the people who read the same agree on one field.

    Attributes:
        kind: Name of the kind of task.
        field: Name of the field.
        measure: Such as `cohen kappa`, `fleiss kappa`, `krippendorff alpha`, `agreement`.
        value: Its value; None where too little was read twice.
        low: Lower end of its interval.
        high: Upper end.
        tasks: How many tasks it is over.
        people: How many people read them.
        simulated: Whether programs stand in for some of them.
        option: The option of a field of several values, where it is compared by itself.
        units: How many units were compared: tasks, or the steps of their responses.
        between: Of two sides: which, as `annotator and auditor`.
    """

    kind: str
    field: str
    measure: str
    value: float | None
    low: float | None = None
    high: float | None = None
    tasks: int = 0
    people: int = 0
    simulated: bool = False
    option: str = ""
    units: int = 0
    between: str = ""

    @property
    def title(self) -> str:
        """The field, and its option where that is compared by itself."""
        return f"{self.field}: {self.option}" if self.option else self.field


@dataclass(frozen=True)
class ReviewReport:
    """Where a review stands.

    Attributes:
        kinds: Progress by kind, in the order in which kinds are declared.
        decisions: How many decisions there are.
        stale: Ids of tasks with decisions on other content that are not settled on their own.
        superseded: Decisions on other content of tasks that were settled since.
        orphans: Decisions on tasks that are not there.
        escalations: Ids of tasks that wait for a senior.
        head: The head hash of the record (`review.chain`).
        people: Everybody who decided.
        simulated: Those of them for whom a program stands in.
        agreement: How far people agree.
    """

    kinds: tuple[KindProgress, ...] = ()
    decisions: int = 0
    stale: tuple[str, ...] = ()
    superseded: int = 0
    orphans: int = 0
    escalations: tuple[str, ...] = ()
    head: str = ""
    people: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()
    agreement: tuple[AgreementFigure, ...] = ()

    @property
    def open_tasks(self) -> int:
        """Tasks that wait for somebody."""
        return sum(kind.tasks - kind.settled for kind in self.kinds)


def compute_states(
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    reviewers: int | None = None,
) -> dict[str, TaskState]:
    """The state of each task by its id; tasks of a kind that is not known are left out.

    Args:
        tasks: The tasks.
        decisions: Those on them, in any order; others are left out.
        reviewers: The study's own number of people who decide (`count_needed`).
    """
    on_task: dict[str, list[ReviewDecision]] = defaultdict(list)
    for decision in decisions:
        on_task[decision.task].append(decision)
    return {
        task.id: compute_state(task, kind, on_task[task.id], count_needed(kind, reviewers))
        for task in tasks
        if (kind := KINDS.get(task.kind))
    }


def summarize_review(
    tasks: Sequence[ReviewTask],
    decisions: Sequence[ReviewDecision],
    reviewers: int | None = None,
    agreement: Iterable[AgreementFigure] = (),
) -> ReviewReport:
    """Where a review stands.

    Args:
        tasks: All of its tasks.
        decisions: All of its decisions, in the order of the record.
        reviewers: The study's own number of people who decide (`count_needed`).
        agreement: How far people agree, from `review.agreement`.
    """
    states = compute_states(tasks, decisions, reviewers)
    work = [state for state in states.values() if state.task.purpose == "work"]
    ids = {task.id for task in tasks}
    return ReviewReport(
        kinds=tuple(_count_progress(work)),
        decisions=len(decisions),
        stale=tuple(s.task.id for s in work if s.stale and s.status != "settled"),
        superseded=sum(len(s.stale) for s in work if s.status == "settled"),
        orphans=sum(decision.task not in ids for decision in decisions),
        escalations=tuple(s.task.id for s in work if s.status == "escalated"),
        head=compute_head(decisions),
        people=tuple(sorted({decision.person for decision in decisions})),
        simulated=tuple(sorted({d.person for d in decisions if d.simulated})),
        agreement=tuple(agreement),
    )


def _count_progress(states: Iterable[TaskState]) -> Iterable[KindProgress]:
    statuses: Mapping[str, Counter[Status]] = defaultdict(Counter)
    people: Mapping[str, set[str]] = defaultdict(set)
    for state in states:
        statuses[state.task.kind][state.status] += 1
        people[state.task.kind] |= {decision.person for decision in state.decisions}
    for kind in KINDS:
        if kind in statuses:
            count = statuses[kind]
            yield KindProgress(
                kind,
                open=count["open"],
                audit=count["audit"],
                escalated=count["escalated"],
                settled=count["settled"],
                people=len(people[kind]),
            )
