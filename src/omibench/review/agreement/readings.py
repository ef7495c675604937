"""Selection of independent readings of the same task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from omibench.review.kinds import KINDS
from omibench.schemas.review import ReviewDecision, ReviewTask


@dataclass(frozen=True)
class ReadTask:
    """A task with independent readings by two or more people.

    Attributes:
        task: The task.
        readings: The first decision of each person, ordered by time.
    """

    task: ReviewTask
    readings: tuple[ReviewDecision, ...]


def list_readings(
    tasks: Iterable[ReviewTask], decisions: Iterable[ReviewDecision]
) -> list[ReadTask]:
    """List the independent readings of every task that has two or more.

    Only a person's first decision on the current content counts, as annotator or auditor. Later
    decisions may be influenced by those of others, seniors see the history, and it is unknown what
    the authors of imported decisions saw. Samples, calibrations and familiarisation are excluded,
    as are simulated readings if two or more people read the task.

    Args:
        tasks: Tasks of every purpose.
        decisions: Decisions in any order.

    Returns:
        Readings in the order of the tasks.
    """
    by_id = {t.id: t for t in tasks if t.purpose == "work" and t.kind in KINDS}
    readings: dict[str, dict[str, ReviewDecision]] = {name: {} for name in by_id}
    for decision in sorted(decisions, key=lambda d: (d.time, d.id)):
        task = by_id.get(decision.task)
        if task is None or decision.content_hash != task.content_hash:
            continue
        if decision.role in ("annotator", "auditor"):
            readings[task.id].setdefault(decision.person, decision)
    return [
        ReadTask(by_id[name], tuple(read))
        for name, by_person in readings.items()
        if len(read := _keep_people(list(by_person.values()))) > 1
    ]


def _keep_people(readings: Sequence[ReviewDecision]) -> Sequence[ReviewDecision]:
    people = [reading for reading in readings if not reading.simulated]
    return people if len(people) > 1 else readings
