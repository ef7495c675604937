"""Faulty variants of settled tasks, for calibration sets that a constant answer cannot pass.

Each variant has one fault that a reader notices and that no correction on the form can mend, or
that only a correction mends; its gold decision holds only the verdict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, NamedTuple

from pydantic import JsonValue

from omibench.errors import ParamsError
from omibench.review.calibration import find_verdict, measure_constant
from omibench.review.contents import hash_content
from omibench.review.kinds import KINDS, Field
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
        shown = [known[sha256] for sha256 in fault.pictures] or task.pictures
        return task.model_copy(
            update={
                "content": dict(fault.content),
                "pictures": shown,
                "content_hash": hash_content(KINDS[task.kind], fault.content, shown),
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
