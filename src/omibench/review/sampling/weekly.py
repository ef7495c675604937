"""Periods in which work was settled."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from omibench.errors import ParamsError
from omibench.review.kinds import KINDS
from omibench.review.people import Reviewer
from omibench.review.report import compute_states
from omibench.review.sampling.strata import draw_stratified, find_stratum, rank_name
from omibench.review.state import TaskState
from omibench.schemas.review import ReviewDecision, ReviewTask

_WEEK = re.compile(r"(\d{4})-W(\d{2})")


class Period(NamedTuple):
    """A period in which work was settled, with the name of its sample in ids."""

    name: str
    start: datetime
    end: datetime
    """The first moment after the period."""


def read_week(text: str) -> Period:
    """Return the ISO week of a text such as `2026-W47`: Monday to Sunday, UTC.

    Raises:
        ParamsError: The text is not a week.
    """
    match = _WEEK.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        monday = date.fromisocalendar(int(match[1]), int(match[2]), 1)
    except ValueError:
        raise ParamsError(f"--week {text!r} is not a week; write it as 2026-W47") from None
    start = datetime(monday.year, monday.month, monday.day, tzinfo=UTC)
    return Period(text, start, start + timedelta(days=7))


def read_period(since: str, until: str) -> Period:
    """Return the days from one date to another, both included, UTC.

    Raises:
        ParamsError: A text is not a date such as `2026-11-16`, or the second date is before the
            first.
    """
    days = []
    for option, text in (("--since", since), ("--until", until)):
        try:
            day = date.fromisoformat(text)
        except ValueError:
            raise ParamsError(f"{option} {text!r} is not a date; write it as 2026-11-16") from None
        days.append(datetime(day.year, day.month, day.day, tzinfo=UTC))
    start, end = days
    if end < start:
        raise ParamsError(f"--until {until} is before --since {since}")
    return Period(f"{start.date()}_{end.date()}", start, end + timedelta(days=1))


# Weekly samples of settled work that seniors judge again (OMIBench, A.4.3).

SHARE: Final = 0.05
"""The default share of the tasks annotated or changed in a week (OMIBench, A.4.3)."""


@dataclass(frozen=True)
class SamplePlan:
    """The size and population of a sample.

    Attributes:
        period: When the work was settled.
        share: Share of the settled tasks of each kind, in (0, 1].
        seed: Seed of the draw.
        kinds: Names of the kinds; if empty, all kinds with the `review` design.
    """

    period: Period
    share: float = SHARE
    seed: int = 0
    kinds: tuple[str, ...] = ()


class KindCount(NamedTuple):
    """The numbers behind the sample of one kind.

    Attributes:
        tasks: All its tasks, without samples, calibrations and familiarisation.
        settled: Those that are settled.
        eligible: Those of them that were settled in the period.
        size: The size of the sample.
        earlier: Tasks of the period already in a sample; they count.
    """

    tasks: int
    settled: int
    eligible: int
    size: int
    earlier: int


@dataclass(frozen=True)
class SampleDraw:
    """A sample.

    Attributes:
        counts: The numbers of each kind.
        tasks: The new tasks of the sample.
        plan: What was asked for.
    """

    counts: Mapping[str, KindCount]
    tasks: tuple[ReviewTask, ...]
    plan: SamplePlan


def draw_samples(
    tasks: Sequence[ReviewTask],
    decisions: Iterable[ReviewDecision],
    plan: SamplePlan,
    reviewers: Sequence[Reviewer] = (),
    needed: int | None = None,
) -> SampleDraw:
    """Draw settled tasks for seniors to judge again (OMIBench, A.4.3).

    The population of a kind is its settled tasks with the last decision in the period. The sample
    is a share of them, at least one, in proportion to the strata by largest remainders. Each is a
    new task that hides earlier decisions and their authors. The same seed draws the same tasks;
    after more work was settled, another draw adds the missing ones.

    Args:
        tasks: All tasks.
        decisions: All decisions.
        plan: Period, share, seed and kinds.
        reviewers: All people. Each task is assigned to a senior who has not decided on it, the one
            with the fewest tasks first; without seniors, tasks are open to the role.
        needed: The study's `review.reviewers`; each kind's number by default.
    """
    states = compute_states(tasks, decisions, needed)
    present = {task.id for task in tasks}
    judged = {(task.of, task.content_hash) for task in tasks if task.purpose == "sample"}
    drawn: list[ReviewTask] = []
    counts: dict[str, KindCount] = {}
    for kind in _list_sampled_kinds(plan.kinds):
        work = [s for s in states.values() if s.task.kind == kind and s.task.purpose == "work"]
        done = [state for state in work if state.status == "settled" and state.decisions]
        settled = [state for state in done if _is_in(state, plan.period)]
        by_id = {state.task.id: state for state in settled}
        earlier = [
            name
            for name, state in by_id.items()
            if (name, state.task.content_hash) in judged or f"{name}@{plan.period.name}" in present
        ]
        size = max(1, int(plan.share * len(settled) + 0.5)) if settled else 0
        counts[kind] = KindCount(len(work), len(done), len(settled), size, len(earlier))
        strata = {state.task.id: find_stratum(state) for state in settled}
        for name in draw_stratified(strata, size, plan.seed, earlier):
            drawn.append(_make_sample(by_id[name].task, plan.period.name))
    people = _assign_seniors(drawn, states, tasks, reviewers, plan.seed)
    return SampleDraw(counts, tuple(people), plan)


def _list_sampled_kinds(names: Sequence[str]) -> list[str]:
    return [
        name
        for name, kind in KINDS.items()
        if kind.design == "review" and (not names or name in names)
    ]


def _is_in(state: TaskState, period: Period) -> bool:
    return period.start <= max(decision.time for decision in state.decisions) < period.end


def _make_sample(task: ReviewTask, name: str) -> ReviewTask:
    changes = {"id": f"{task.id}@{name}", "purpose": "sample", "of": task.id, "people": {}}
    return task.model_copy(update=changes)


def _assign_seniors(
    samples: Sequence[ReviewTask],
    states: Mapping[str, TaskState],
    tasks: Iterable[ReviewTask],
    reviewers: Sequence[Reviewer],
    seed: int,
) -> list[ReviewTask]:
    load: dict[str, int] = defaultdict(int)
    for task in tasks:
        for name in task.people.get("senior", []) if task.purpose == "sample" else []:
            load[name] += 1
    assigned = []
    for sample in samples:
        subject = sample.strata.get("subject", "other")
        seniors = [r.name for r in reviewers if r.may_review("senior", subject)]
        decided = {d.person for d in states[sample.of or ""].decisions}
        candidates = [name for name in seniors if name not in decided] or seniors
        if not candidates:
            assigned.append(sample)
            continue
        senior = min(candidates, key=lambda n: (load[n], rank_name(seed, n, sample.id)))
        load[senior] += 1
        assigned.append(sample.model_copy(update={"people": {"senior": [senior]}}))
    return assigned


def describe_draw(draw: SampleDraw) -> str:
    """Return the text of `omibench review sample`: what was counted, drawn, and why nothing was."""
    drawn = Counter(task.kind for task in draw.tasks)
    period = draw.plan.period.name.replace("_", " to ")
    lines = [
        f"{kind}: {count.tasks} tasks, {count.settled} settled, {count.eligible} of them in "
        f"{period}; {_describe_size(count, drawn[kind], draw.plan.share)}"
        for kind, count in draw.counts.items()
        if count.tasks
    ]
    seniors = Counter(name for task in draw.tasks for name in task.people.get("senior", ()))
    lines += [f"{name}: {number} to judge" for name, number in sorted(seniors.items())]
    return "\n".join(lines) or "no tasks of these kinds; make some with `omibench review assign`"


def _describe_size(count: KindCount, drawn: int, share: float) -> str:
    if not count.settled:
        return "0 drawn: nothing is settled yet (`omibench review status`)"
    if not count.eligible:
        return "0 drawn: the settled tasks are of another period"
    sample = f"a sample of {100 * share:g} % is {count.size}"
    if not count.earlier:
        return f"{sample}: {drawn} drawn"
    why = "" if drawn else ", so it is complete"
    return f"{sample}: {count.earlier} in it already{why}, {drawn} drawn"
