"""Which decisions are independent readings of the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from omibench.review.kinds import KINDS
from omibench.schemas.review import ReviewDecision, ReviewTask


@dataclass(frozen=True)
class ReadTask:
    """A task that two people or more read independently.

    Attributes:
        task: The task.
        readings: The first decision of each, in order of time.
    """

    task: ReviewTask
    readings: tuple[ReviewDecision, ...]


def list_readings(
    tasks: Iterable[ReviewTask], decisions: Iterable[ReviewDecision]
) -> list[ReadTask]:
    """The independent readings of every task that has two or more.

    A person's first decision on a task counts, as annotator or auditor, on the content as it is.
    Later ones may know of the others' decisions, seniors see the history, and what the maker of an
    imported decision saw is not known. Samples, calibrations and familiarisation are left out;
    simulated readings as well where two people or more read the task.

    Args:
        tasks: Tasks of every purpose.
        decisions: Decisions in any order.

    Returns:
        In the order of the tasks.
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
