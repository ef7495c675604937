"""Invented reviewers of the sample study, and their decisions on tasks.

Annotators read first, auditors read the same independently, and a senior settles differences. Each
person has an error rate, drawn by person and task, so that the same tasks give the same decisions.
The right decisions are in `oracle.jsonl`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from omibench.models.simulated.answers import Oracle
from omibench.models.simulated.roles import is_right
from omibench.models.synthetic.items import make_random
from omibench.review.check import check_fields
from omibench.review.contents import hash_content
from omibench.review.kinds import Field, Kind, find_kind
from omibench.review.kinds.declaration import is_asked, list_options
from omibench.review.state import compute_state
from omibench.schemas.review import ReviewDecision, ReviewRole, ReviewTask

CORRECTED = "item:physics-9"
"""The item read once before its text was corrected: that decision is stale, and the item is read
again."""
MONDAY = datetime(2026, 11, 9, 9, tzinfo=UTC)
DAYS: Mapping[ReviewRole, int] = {"annotator": 1, "auditor": 2, "senior": 3}
"""Tests and first readings on Monday, then one day per role."""
SAMPLE_DAY = 7
Fields = dict[str, Any]


@dataclass(frozen=True)
class Person:
    """An invented reviewer: roles, and the share of fields with errors."""

    name: str
    roles: tuple[ReviewRole, ...]
    error_rate: float


PEOPLE = (
    Person("reader-a", ("annotator",), 0.03),
    Person("reader-b", ("annotator", "auditor"), 0.05),
    Person("reader-c", ("auditor",), 0.04),
    Person("reader-d", ("annotator",), 0.35),
    Person("senior-a", ("senior",), 0.0),
)
"""The last reader, who fails the test for items and gets no tasks."""


def play(tasks: Sequence[ReviewTask], oracle: Oracle) -> list[ReviewDecision]:
    """Return the reviewers' decisions on the tasks, in order of time.

    Args:
        tasks: Tasks of every kind and purpose.
        oracle: True facts about the problems.
    """
    readings = [d for number, task in enumerate(tasks) for d in read_task(task, number, oracle)]
    return sorted(readings, key=lambda decision: (decision.time, decision.id))


def read_task(task: ReviewTask, number: int, oracle: Oracle) -> Iterator[ReviewDecision]:
    """Return the decisions on one task: of annotator and auditor, and of the senior if they
    differ."""
    kind = find_kind(task.kind)
    reader = Reader(task, kind, number, find_truth(task, kind, oracle))
    if task.purpose == "calibration":
        for person in PEOPLE:
            if "senior" not in person.roles:
                yield reader.decide(person, person.roles[0], day=0)
        return
    if task.purpose == "sample":
        yield reader.decide(pick_person(task, "senior"), "senior", day=SAMPLE_DAY)
        return
    annotator = pick_person(task, "annotator")
    if task.id == CORRECTED:
        yield reader.decide(annotator, "annotator", day=0, content_hash=hash_before(task, kind))
    decisions = [reader.decide(annotator, "annotator")]
    if kind.reviewers > 1:
        decisions.append(reader.decide(pick_person(task, "auditor", annotator), "auditor"))
    yield from decisions
    if compute_state(task, kind, decisions).status == "escalated":
        yield reader.decide(pick_person(task, "senior"), "senior")


def hash_before(task: ReviewTask, kind: Kind) -> str:
    """Return the hash of a task's content before its question was corrected."""
    question = f"{task.content['question']} Explain."
    return hash_content(kind, {**task.content, "question": question}, task.pictures)


def pick_person(task: ReviewTask, role: ReviewRole, other: Person | None = None) -> Person:
    """Return the person for a role: the one in the task, otherwise one with the role, but not
    `other`."""
    names = task.people.get(role, [])
    able = [p for p in PEOPLE if role in p.roles and p is not other]
    return make_random("person", role, task.id).choice([p for p in able if p.name in names] or able)


@dataclass(frozen=True)
class Reader:
    """One task for reviewers, with the fields of the right decision."""

    task: ReviewTask
    kind: Kind
    number: int
    truth: Fields

    def decide(
        self,
        person: Person,
        role: ReviewRole,
        day: int | None = None,
        content_hash: str | None = None,
    ) -> ReviewDecision:
        """Return one person's decision: the right one, except for errors."""
        task, content_hash = self.task, content_hash or self.task.content_hash
        random = make_random("review", person.name, role, task.id, content_hash)
        fields = dict(self.truth)
        for field in self.kind.fields:
            if not is_asked(field, fields):
                fields.pop(field.name, None)
            elif matters(field) and random.random() < person.error_rate:
                fields[field.name] = make_error(field, fields[field.name], task, random)
        minutes = 5 * self.number + random.randrange(5)
        event = f"{task.id} {person.name} {role} {content_hash}"
        return ReviewDecision(
            id=hashlib.sha256(event.encode()).hexdigest()[:16],
            task=task.id,
            kind=self.kind.name,
            person=person.name,
            role=role,
            time=MONDAY + timedelta(days=DAYS[role] if day is None else day, minutes=minutes),
            content_hash=content_hash,
            fields=check_fields(self.kind, task, fields),
            seconds=round(random.lognormvariate(5.0, 0.5)),
            simulated=True,
        )


def matters(field: Field) -> bool:
    """Return whether reviewers can differ in a field without writing another text."""
    return field.type != "text" and (field.critical or field.type in {"rating", "flag", "steps"})


def make_error(field: Field, value: Any, task: ReviewTask, random: Random) -> Any:
    """Return another value of a field than the right one; a text stays unchanged."""
    values = [option.value for option in list_options(field, task.content)]
    if field.type == "rating":
        low, high = field.scale
        return min(high, max(low, value + random.choice((-2, -1, 1))))
    if field.type == "flag":
        return not value
    if field.type == "choice":
        return random.choice([v for v in values if v != value] or [value])
    if field.type == "choices":
        return sorted({*value} ^ {random.choice(values)})
    if field.type == "steps" and value:
        place = random.randrange(len(value))
        return [*value[:place], random.choice(values), *value[place + 1 :]]
    return value


def find_truth(task: ReviewTask, kind: Kind, oracle: Oracle) -> Fields:
    """Return the fields of the right decision, from the known answers and the task; in a test the
    gold ones."""
    return {**TRUTHS[kind.name](task, oracle), **task.gold}


def judge_item(task: ReviewTask, oracle: Oracle) -> Fields:
    """Problems kept by the filter are sound; their quality differs."""
    solution = "valid" if task.content.get("solution") else "absent"
    quality = make_random("quality", task.problem).choice((3, 4, 4, 4, 5, 5))
    return {"valid": "valid", "solution_valid": solution, "quality": quality, "defects": []}


def judge_rationale(task: ReviewTask, oracle: Oracle) -> Fields:
    """The first right candidate is unchanged; others cannot be corrected."""
    checks = ("concepts", "computation", "completeness", "final_answer", "clarity")
    for candidate in task.content.get("candidates") or []:
        if judge_text(candidate["text"], task, oracle):
            passed = dict.fromkeys(checks, True)
            return {"candidate": candidate["id"], **passed, "action": "accept"}
    solution = f"[SIMULATED]\n{oracle.row(task.problem).rationale}"
    failed = dict.fromkeys(checks, False)
    return {"candidate": "none", **failed, "action": "rewrite", "solution": solution}


def judge_translation(task: ReviewTask, oracle: Oracle) -> Fields:
    """The translator knows the booklet."""
    return {"translation": "verified"}


def judge_label(task: ReviewTask, oracle: Oracle) -> Fields:
    """The subject is that of `oracle.jsonl`; subfield and topic stay if it does not change."""
    subject = oracle.row(task.problem).subject
    names = ("subfield", "topic")
    return {"subject": subject, **{name: task.content.get(name) or "none" for name in names}}


def judge_disagreement(task: ReviewTask, oracle: Oracle) -> Fields:
    """A right answer was not matched; a wrong one was reasoned wrongly."""
    if judge_text(task.content["response"], task, oracle):
        return {"source": "rule_match_error", "label": "right"}
    return {"source": "reasoning_error", "label": "wrong"}


def judge_steps(task: ReviewTask, oracle: Oracle) -> Fields:
    """One step of a wrong response is wrong, with a drawn error type."""
    steps, random = task.content["steps"], make_random("steps", task.of or task.id)
    marks = ["right"] * len(steps)
    types = list_options(find_kind("steps").by_name["error_type"], task.content)
    error_type = random.choice(types).value
    if judge_text("\n".join(steps), task, oracle):
        return {"validation": "right", "steps": marks, "error_type": error_type}
    marks[random.randrange(len(steps))] = "wrong"
    return {"validation": "wrong", "steps": marks, "error_type": error_type}


def judge_text(text: str, task: ReviewTask, oracle: Oracle) -> bool:
    """Return whether a text ends with the right answer."""
    row = oracle.row(task.problem)
    return is_right(text, row.answer, bool(row.choices))


TRUTHS: Mapping[str, Callable[[ReviewTask, Oracle], Fields]] = {
    "item": judge_item,
    "rationale": judge_rationale,
    "translation": judge_translation,
    "label": judge_label,
    "disagreement": judge_disagreement,
    "steps": judge_steps,
}
