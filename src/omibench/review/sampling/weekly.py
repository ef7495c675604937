"""Draws of review tasks: weekly checks, and calibration sets."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import ceil
from typing import Final, NamedTuple

from pydantic import JsonValue

from omibench.errors import ParamsError
from omibench.review.calibration import find_verdict, measure_constant
from omibench.review.contents import hash_content
from omibench.review.kinds import KINDS, Field
from omibench.review.people import Reviewer
from omibench.review.report import compute_states
from omibench.review.sampling.strata import draw_stratified, find_stratum, rank_name
from omibench.review.state import TaskState
from omibench.schemas.problem import IMAGE_MARK
from omibench.schemas.review import ReviewDecision, ReviewTask

_SENTENCE: Final = re.compile(r"(?<=[.!?。？！])\s+")
_NUMBER: Final = re.compile(r"\d+")
_LEFT_CHARACTERS: Final = 20
"""The least length of a statement that lost its last sentence: it must look like one."""


class Fault(NamedTuple):
    """A faulty form of a task: its changed content and pictures, and the right verdict on it."""

    content: Mapping[str, JsonValue]
    pictures: Sequence[str]
    """Hashes of its pictures, in order; empty for those of the task."""
    gold: Mapping[str, JsonValue]


MakeFault = Callable[[ReviewTask, Sequence[ReviewTask]], Fault | None]
"""Returns a fault of a task, given others to take pictures from; None if it cannot have one."""


def make_faulty(task: ReviewTask, others: Sequence[ReviewTask], seed: int) -> ReviewTask | None:
    """Return a task with a fault and its gold decision.

    Args:
        task: A settled task.
        others: Tasks of the same kind, of which pictures can be taken.
        seed: Chooses among the possible faults, together with the task's id.

    Returns:
        The variant with the content hash of its content; None if the task can have no fault.
    """
    makers = FAULTS.get(task.kind, ())
    for make in sorted(makers, key=lambda make: rank_name(seed, f"{task.id} {make.__name__}")):
        fault = make(task, others)
        if fault is None:
            continue
        known = {picture.sha256: picture for other in (task, *others) for picture in other.pictures}
        pictures = [known[sha256] for sha256 in fault.pictures] or task.pictures
        return task.model_copy(
            update={
                "content": dict(fault.content),
                "pictures": pictures,
                "content_hash": hash_content(KINDS[task.kind], fault.content, pictures),
                "gold": dict(fault.gold),
            }
        )
    return None


def cut_question(task: ReviewTask, others: Sequence[ReviewTask]) -> Fault | None:
    """Drop the last sentence of the statement, which asks the question."""
    question = task.content.get("question")
    sentences = _SENTENCE.split(question) if isinstance(question, str) else []
    left = " ".join(sentences[:-1])
    if len(IMAGE_MARK.sub("", left).strip()) < _LEFT_CHARACTERS or IMAGE_MARK.search(sentences[-1]):
        return None
    return Fault({**task.content, "question": left}, (), {"valid": "invalid"})


def swap_pictures(task: ReviewTask, others: Sequence[ReviewTask]) -> Fault | None:
    """Show the pictures of another problem."""
    own = _list_images(task)
    for other in others:
        theirs = _list_images(other)[: len(own)]
        if own and len(theirs) == len(own) and not {*own} & {*theirs}:
            return Fault(task.content, theirs, {"valid": "invalid"})
    return None


def repeat_answer(task: ReviewTask, others: Sequence[ReviewTask]) -> Fault | None:
    """Give a second choice the text of the right one."""
    answer, choices = task.content.get("answer"), task.content.get("choices")
    entries = [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
    right = next((c for c in entries if [c.get("label")] == answer and c.get("text")), None)
    wrong = next((c for c in entries if [c.get("label")] != answer and c.get("text")), None)
    if right is None or wrong is None:
        return None
    doubled: list[JsonValue] = [
        {**entry, "text": right["text"]} if entry is wrong else entry for entry in entries
    ]
    return Fault({**task.content, "choices": doubled}, (), {"valid": "invalid"})


def change_number(task: ReviewTask, others: Sequence[ReviewTask]) -> Fault | None:
    """Change a number of the translation that the original has."""
    question, original = task.content.get("question"), task.content.get("original_question")
    if not isinstance(question, str) or not isinstance(original, str):
        return None
    marks = [match.span() for match in IMAGE_MARK.finditer(question)]
    for match in _NUMBER.finditer(question):
        is_mark = any(start <= match.start() < end for start, end in marks)
        if not is_mark and match[0] in _NUMBER.findall(original):
            changed = f"{question[: match.start()]}{int(match[0]) + 1}{question[match.end() :]}"
            return Fault({**task.content, "question": changed}, (), {"translation": "corrected"})
    return None


FAULTS: Final[Mapping[str, tuple[MakeFault, ...]]] = {
    "item": (cut_question, swap_pictures, repeat_answer),
    "translation": (change_number,),
}
"""The faults of each kind of task."""


def _list_images(task: ReviewTask) -> list[str]:
    return [picture.sha256 for picture in task.pictures if picture.part == "image"]


# Sets of calibration tasks, drawn from settled work (OMIBench, A.3.2).
#
# A set tests nothing if most of its gold decisions are one and the same: most settled items are
# valid. At least a third of a set therefore has other verdicts, if need be those of faulty
# variants.

OTHER_VERDICTS: Final = 1 / 3
"""The least share of a set whose gold decision is not the most frequent one."""


@dataclass(frozen=True)
class CalibrationPlan:
    """A set of calibration tasks.

    Attributes:
        kind: Name of the kind.
        items: The number of tasks, stratified by problem type and difficulty.
        name: Name of the set, part of the ids of its tasks.
        seed: Seed of the draw.
    """

    kind: str
    items: int = 30
    name: str = "calibration"
    seed: int = 0


def draw_calibration(
    tasks: Sequence[ReviewTask],
    decisions: Iterable[ReviewDecision],
    plan: CalibrationPlan,
    needed: int | None = None,
) -> list[ReviewTask]:
    """Draw settled tasks as a calibration set with their results as gold decisions (A.3.2).

    For kinds with a verdict, at most two thirds of the set have the most frequent one; where too
    few others are settled, variants of further tasks with a fault take their place.

    Args:
        tasks: All tasks.
        decisions: All decisions.
        plan: Kind, size and name of the set.
        needed: The study's `review.reviewers`; each kind's number by default.

    Returns:
        The new tasks, open to everyone; existing ones are omitted.

    Raises:
        ParamsError: Too few tasks of the kind are settled, or a constant answer would agree with
            more than two thirds of the set.
    """
    states = {
        state.task.id: state
        for state in compute_states(tasks, decisions, needed).values()
        if state.task.kind == plan.kind
        and state.task.purpose == "work"
        and state.status == "settled"
    }
    if len(states) < plan.items:
        raise ParamsError(
            f"--calibration {plan.items}: only {len(states)} {plan.kind!r} tasks are settled and "
            "can be used as gold"
        )
    present = {task.id: task for task in tasks}
    earlier = {name: present[key] for name in states if (key := f"{name}@{plan.name}") in present}
    drawn = _draw_balanced(states, plan, earlier)
    _refuse_constant(plan, [*earlier.values(), *drawn])
    return drawn


def _draw_balanced(
    states: Mapping[str, TaskState], plan: CalibrationPlan, earlier: Mapping[str, ReviewTask]
) -> list[ReviewTask]:
    """Draw the missing tasks of a set: those with rare verdicts first, then faulty variants."""
    verdict = find_verdict(KINDS[plan.kind])
    verdicts = {name: _read_verdict(verdict, state.fields or {}) for name, state in states.items()}
    frequent = Counter(verdicts.values()).most_common(1)[0][0]
    others = 0 if verdict is None else ceil(plan.items * OTHER_VERDICTS)
    others -= sum(_read_verdict(verdict, task.gold) != frequent for task in earlier.values())
    free = {n: find_stratum(state) for n, state in states.items() if n not in earlier}
    common = {name: stratum for name, stratum in free.items() if verdicts[name] == frequent}
    rare = {name: stratum for name, stratum in free.items() if name not in common}
    tasks = [_make_test(states[n], plan) for n in draw_stratified(rare, max(0, others), plan.seed)]
    sources = [state.task for state in states.values()]
    for name in sorted(common, key=lambda name: rank_name(plan.seed, name)):
        if len(tasks) >= others:
            break
        if faulty := make_faulty(states[name].task, sources, plan.seed):
            tasks.append(_make_test(states[name], plan, faulty))
            del common[name]
    size = max(0, plan.items - len(earlier) - len(tasks))
    return tasks + [_make_test(states[n], plan) for n in draw_stratified(common, size, plan.seed)]


def _make_test(
    state: TaskState, plan: CalibrationPlan, faulty: ReviewTask | None = None
) -> ReviewTask:
    """Return the test of a settled task, or of its faulty variant."""
    name, task = state.task.id, faulty or state.task
    gold = faulty.gold if faulty else dict(state.fields or {})
    changes = {"id": f"{name}@{plan.name}", "purpose": "calibration", "of": name, "people": {}}
    return task.model_copy(update={**changes, "gold": gold})


def _read_verdict(verdict: Field | None, fields: Mapping[str, JsonValue]) -> JsonValue:
    return None if verdict is None else fields.get(verdict.name)


def _refuse_constant(plan: CalibrationPlan, tasks: Sequence[ReviewTask]) -> None:
    share = measure_constant(KINDS[plan.kind], [task.gold for task in tasks])
    if share > 1 - OTHER_VERDICTS + 1e-9:
        raise ParamsError(
            f"--calibration {plan.items}: one answer to every task would agree with "
            f"{share:.0%} of the {plan.kind!r} tasks that can be drawn; settle more tasks with "
            "other results, so that it agrees with at most two thirds"
        )


# Periods in which work was settled.

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
