"""State of a whole review, for reports and releases."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from omibench.review.folder import compute_head
from omibench.review.kinds import KINDS
from omibench.review.state import Status, TaskState, compute_state, count_needed
from omibench.schemas.review import ReviewDecision, ReviewTask


@dataclass(frozen=True)
class KindProgress:
    """The number of tasks of one kind by status, without samples, calibrations and familiarisation.

    Attributes:
        kind: Name of the kind.
        open: Tasks that wait for an annotator.
        audit: Tasks that wait for an auditor.
        escalated: Tasks that wait for a senior.
        settled: Settled tasks.
        people: The number of people who decided on them.
    """

    kind: str
    open: int = 0
    audit: int = 0
    escalated: int = 0
    settled: int = 0
    people: int = 0

    @property
    def tasks(self) -> int:
        """All tasks of the kind."""
        return self.open + self.audit + self.escalated + self.settled


@dataclass(frozen=True)
class AgreementFigure:
    """One measure of agreement between independent readers on one field.

    Attributes:
        kind: Name of the kind of task.
        field: Name of the field.
        measure: Such as `cohen kappa`, `fleiss kappa`, `krippendorff alpha`, `agreement`.
        value: Its value; None if too few tasks were read twice.
        low: Lower end of its interval.
        high: Upper end.
        tasks: The number of tasks.
        people: The number of people who read them.
        simulated: Whether any of them is simulated.
        option: The option, if options are compared individually.
        units: The number of compared units: tasks, or the steps of their responses.
        between: The two sides, as `annotator and auditor`, if there are two.
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
        """The field, with its option if options are compared individually."""
        return f"{self.field}: {self.option}" if self.option else self.field


@dataclass(frozen=True)
class ReviewReport:
    """The state of a review.

    Attributes:
        kinds: Progress by kind, in declaration order.
        decisions: The number of decisions.
        stale: Ids of tasks with decisions on other content that are not settled.
        superseded: Decisions on other content of tasks that were settled since.
        orphans: Decisions on missing tasks.
        escalations: Ids of tasks that wait for a senior.
        head: The head hash of the log (`review.record`).
        people: Everyone who decided.
        simulated: Those of them who are simulated.
        agreement: Agreement between people.
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


def compute_states(
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    reviewers: int | None = None,
) -> dict[str, TaskState]:
    """Return the state of each task by its id; tasks of unknown kinds are skipped.

    Args:
        tasks: The tasks.
        decisions: Decisions in any order; those on other tasks are ignored.
        reviewers: The study's number of required decisions (`count_needed`).
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
    """Return the state of a review.

    Args:
        tasks: All of its tasks.
        decisions: All of its decisions, in the order of the log.
        reviewers: The study's number of required decisions (`count_needed`).
        agreement: Agreement between people, from `review.agreement`.
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
