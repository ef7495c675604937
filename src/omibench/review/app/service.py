"""Operations of reviewers: open a task, save a draft, claim, decide.

The files of the review are reloaded when they change, including decisions of others. A decision is
written to the live log and then to decisions.jsonl.
"""

from __future__ import annotations

import logging
import os
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, Field, JsonValue

from omibench.errors import OmibenchError
from omibench.params.review import SHORTEST_SECONDS, CalibrationParams
from omibench.review.app.conflicts import (
    DecisionConflictError,
    DoubtError,
    NoRightError,
    list_doubts,
)
from omibench.review.app.database import (
    LIVE,
    Database,
    claim_task,
    drop_claim,
    drop_draft,
    lock_folder,
    read_answer,
    read_claims,
    read_draft,
    record_answer,
    save_draft,
)
from omibench.review.app.decisions import DecisionLog, append_event
from omibench.review.app.tasks import (
    ListedTask,
    ReviewContent,
    choose_role,
    find_waiting_role,
    find_withheld,
    list_taken_roles,
    may_decide,
    read_content,
    sign_files,
)
from omibench.review.calibration import CalibrationResult, list_qualified, measure_calibration
from omibench.review.check import TEXT_CHARACTERS, DecisionFieldError, check_fields
from omibench.review.contents import hash_statement, normalise_lines
from omibench.review.outcomes import ReviewRule
from omibench.review.people import AssignedRole, Reviewer
from omibench.review.state import TaskState, compute_state
from omibench.schemas.review import ReviewDecision
from omibench.web.bodies import JsonBody

log = logging.getLogger("omibench.review")


LONGEST_S: Final = 7 * 86400.0
MOST_CONFIRMED: Final = 100
Seconds = Annotated[float, Field(ge=0, le=LONGEST_S)]


class Submission(JsonBody):
    """The submitted content of a decision."""

    fields: dict[str, JsonValue] = {}
    comment: Annotated[str, Field(max_length=TEXT_CHARACTERS), AfterValidator(normalise_lines)] = ""
    seconds: Seconds | None = None
    content_hash: str = ""
    base: str | None = None
    confirmed: list[str] = Field(default=[], max_length=MOST_CONFIRMED)
    """Names of the doubts that the person has confirmed (`conflicts.list_doubts`)."""

    def make_draft(self) -> dict[str, Any]:
        """Return the form as a draft: not submitted yet, or rejected."""
        return self.model_dump(include={"fields", "comment", "seconds", "content_hash"})


class WaitingTask(NamedTuple):
    """A task that waits for a person, and the role; an annotator's in independent tasks."""

    listed: ListedTask
    role: AssignedRole


class OpenedTask(NamedTuple):
    """A task as opened by one person, with their role, and its state, draft and events."""

    listed: ListedTask
    state: TaskState
    role: AssignedRole
    may_decide: bool
    events: list[ReviewDecision]
    draft: dict[str, Any] | None
    claimed_by: str | None
    base: str | None
    """The id of the newest event that the person's decision follows."""
    is_judged_again: bool = False
    """Whether a sample of it waits for a senior, who must not see others' decisions."""
    own_answer: str | None = None
    """The person's own answer to the problem, if they gave one."""
    withheld: frozenset[str] = frozenset()
    """The parts that they see only after it."""


class ReviewService:
    """A served review: its files, its live log, and a clock."""

    def __init__(
        self,
        folder: Path,
        *,
        rule: ReviewRule | None = None,
        calibration: CalibrationParams | None = None,
        shortest_seconds: float = SHORTEST_SECONDS,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Read the files of a review, open its live log and compute the states of all tasks.

        Live log and decisions.jsonl get the decisions that they lack.

        Args:
            folder: The review folder.
            rule: The number of people who decide before a task is settled; each kind's by default.
            calibration: The test that people must pass before they get work; none by default.
            shortest_seconds: The least credible time of a decision.
            now: The clock.

        Raises:
            MissingInputError: tasks.jsonl or reviewers.yaml does not exist.
            FileFormatError: A file cannot be read, or log and decisions.jsonl differ.
            OutputError: Another server uses the folder, or it cannot be written.
        """
        self.folder = folder
        self.rule = rule or ReviewRule()
        self.calibration = calibration
        self.shortest_seconds = shortest_seconds
        self.now = now
        self._reading = threading.Lock()
        self._signature = sign_files(folder)
        self._content = read_content(folder)
        self._lock = lock_folder(folder)
        try:
            self.database = Database(folder / LIVE)
            self.log = DecisionLog(self.database, folder)
            self._compute_states()
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def content(self) -> ReviewContent:
        """Return tasks and people; changed files are read again, and others' decisions taken in.

        Files that cannot be read leave the previous contents.
        """
        signature = sign_files(self.folder)
        if signature != self._signature:
            with self._reading:
                if signature != self._signature:
                    self._signature = signature
                    try:
                        self._content = read_content(self.folder)
                    except OmibenchError as error:
                        kept = "the review continues with the previous tasks and people"
                        log.warning("%s: %s", kept, error)
                    else:
                        for line in self._content.errors:
                            log.warning("%s", line)
                        self._compute_states()
        if self.log.has_changed():
            self.synchronise()
        return self._content

    @property
    def seconds(self) -> float:
        """Return the Unix time in seconds, as used by claims and sessions."""
        return self.now().timestamp()

    def synchronise(self) -> None:
        """Append new decisions to decisions.jsonl, and take in those that others have added to it.

        A failure is logged: the live log keeps the decisions, and the next call tries again.
        """
        with self.log.lock:
            before = len(self.log.events)
            try:
                self.log.synchronise()
            except OmibenchError as error:
                log.warning("%s; new decisions are kept in %s", error, LIVE)
            if len(self.log.events) != before:
                self._compute_states()

    def _compute_states(self) -> None:
        """Compute the states of all tasks from the events."""
        with self.log.lock:
            events: defaultdict[str, list[ReviewDecision]] = defaultdict(list)
            for event in self.log.events:
                events[event.task].append(event)
            self.events = events
            """The decisions on each task, in order."""
            self.states = {
                name: self._fold(listed, events[name])
                for name, listed in self._content.tasks.items()
            }
            """The state of each task."""

    def _fold(self, listed: ListedTask, events: list[ReviewDecision]) -> TaskState:
        task = listed.task
        return compute_state(task, listed.kind, events, self.rule.count_needed(task.kind))

    def list_barred_kinds(self, person: Reviewer) -> frozenset[str]:
        """Return the kinds for which a person has not passed the test.

        It is the test of OMIBench, A.3.2; without `review.calibration` in the params there is none.
        """
        if self.calibration is None:
            return frozenset()
        content, decisions = self.content, self._list_tests_of(person)
        return frozenset(
            kind
            for kind in {listed.task.kind for listed in content.tasks.values()}
            if not list_qualified([person], kind, content.calibration, decisions, self.calibration)
        )

    def measure_tests(self, person: Reviewer) -> list[CalibrationResult]:
        """Return a person's results in the calibration sets."""
        if self.calibration is None:
            return []
        tests, decisions = self.content.calibration, self._list_tests_of(person)
        return measure_calibration(tests, decisions, self.calibration, self.shortest_seconds)

    def _list_tests_of(self, person: Reviewer) -> list[ReviewDecision]:
        return [
            event
            for task in self.content.calibration
            for event in self.events[task.id]
            if event.person == person.name
        ]

    def _is_barred(self, listed: ListedTask, barred: frozenset[str]) -> bool:
        return listed.task.purpose == "work" and listed.task.kind in barred

    def list_waiting(self, person: Reviewer) -> list[WaitingTask]:
        """Return the tasks that wait for a person and are not claimed by others, in order."""
        return list(self._iter_waiting(person, self.content.tasks.values()))

    def _iter_waiting(self, person: Reviewer, tasks: Iterable[ListedTask]) -> Iterator[WaitingTask]:
        states, barred = self.states, self.list_barred_kinds(person)
        with self.database.read() as connection:
            claims = read_claims(connection, self.seconds)
        for listed in tasks:
            name = listed.task.id
            role = find_waiting_role(listed, states[name], person) if name in states else None
            if role is None or self._is_barred(listed, barred):
                continue
            if role == "everyone":
                yield WaitingTask(listed, "annotator")
            elif claims.get(name) in (None, person.name):
                yield WaitingTask(listed, role)

    def find_neighbours(
        self, listed: ListedTask, person: Reviewer
    ) -> tuple[str | None, str | None]:
        """Return the next task that waits for a person, and the previous one or one decided before.

        After the last task follows the first one.
        """
        tasks = list(self.content.tasks.values())
        earlier, later = tasks[: listed.position], tasks[listed.position + 1 :]
        following = next(self._iter_waiting(person, chain(later, earlier)), None)
        waiting = next(self._iter_waiting(person, reversed(earlier)), None)
        start = waiting.listed.position + 1 if waiting else 0
        decided = (
            other.task.id
            for other in reversed(earlier[start:])
            if (state := self.states.get(other.task.id)) and list_taken_roles(state, person)
        )
        previous = next(decided, waiting.listed.task.id if waiting else None)
        return following.listed.task.id if following else None, previous

    def open_task(self, listed: ListedTask, person: Reviewer) -> OpenedTask | None:
        """Return a task as opened by a person, or None if they cannot see it."""
        task, kind = listed.task, listed.kind
        events = list(self.events[task.id])
        state = self._fold(listed, events)
        role = choose_role(task, kind, state, person)
        if role is None:
            return None
        if not events and self._is_barred(listed, self.list_barred_kinds(person)):
            return None
        with self.database.read() as connection:
            draft = read_draft(connection, task.id, person.name)
            claim = read_claims(connection, self.seconds).get(task.id)
            answer = read_answer(connection, task.id, person.name, hash_statement(task))
        samples = self.content.samples.get(task.id, ())
        return OpenedTask(
            listed,
            state,
            role,
            may_decide(task, kind, state, person, role),
            events,
            draft,
            claim if claim != person.name else None,
            find_base(listed, events, person.name),
            any(self.states[sample.task.id].status != "settled" for sample in samples),
            answer,
            find_withheld(listed, state, person, role, answer),
        )

    def answer(
        self, listed: ListedTask, person: Reviewer, answer: str, seconds: float, content_hash: str
    ) -> None:
        """Record a person's own answer to the problem, after which they see key and solution.

        The first answer stays. The time until it counts as time of the decision.

        Raises:
            NoRightError: The task does not wait for this person.
            DecisionConflictError: The task is not the one they saw, which has `content_hash`.
        """
        name, opened = listed.task.id, self.open_task(listed, person)
        if opened is None or not opened.may_decide:
            raise NoRightError(f"{name}: the task does not wait for {person.name}")
        if not opened.withheld:
            return
        if content_hash != listed.task.content_hash:
            raise DecisionConflictError(listed.task, "changed", None, opened.base)
        new = {"fields": {}, "comment": "", "content_hash": listed.task.content_hash}
        draft = {**new, **(opened.draft or {}), "seconds": seconds}
        with self.database.write() as connection:
            statement = hash_statement(listed.task)
            record_answer(connection, name, person.name, statement, answer.strip())
            save_draft(connection, name, person.name, draft)

    def decide(
        self, listed: ListedTask, person: Reviewer, submission: Submission
    ) -> ReviewDecision:
        """Write a decision in one transaction, then add it to decisions.jsonl.

        Raises:
            DecisionFieldError: A field is invalid for the kind.
            DoubtError: The person has not confirmed what is odd about the decision.
            NoRightError: The person cannot decide now.
            DecisionConflictError: The content has changed, another person decided in between or has
                claimed the task. The submission is kept as the person's draft.
        """
        task, kind = listed.task, listed.kind
        opened = self.open_task(listed, person)
        # Before anything else: what a check says about the fields could give the key away.
        if opened is not None and opened.withheld:
            if submission.content_hash != task.content_hash:
                self.save_draft(listed, person, submission)
                raise DecisionConflictError(task, "changed", None, opened.base)
            raise DecisionFieldError("own_answer", "give your own answer to the problem first")
        fields = check_fields(kind, task, submission.fields)
        doubts = list_doubts(kind, task, fields)
        if open_doubts := [d for d in doubts if d.name not in submission.confirmed]:
            raise DoubtError(open_doubts)
        is_barred = self._is_barred(listed, self.list_barred_kinds(person))
        with self.log.lock:
            events = self.events[task.id]
            state = self._fold(listed, events)
            role = choose_role(task, kind, state, person)
            with self.database.write() as connection:
                claim = read_claims(connection, self.seconds).get(task.id)
                conflict = _find_conflict(listed, events, person, submission, claim)
                if conflict is None:
                    if role is None or is_barred or not may_decide(task, kind, state, person, role):
                        raise NoRightError(f"{task.id}: the task does not wait for {person.name}")
                    decision = ReviewDecision(
                        id=uuid.uuid4().hex,
                        task=task.id,
                        kind=task.kind,
                        person=person.name,
                        role=role,
                        time=_find_time(events, self.now()),
                        content_hash=task.content_hash,
                        fields=dict(sorted(fields.items())),  # as it will be read again
                        seconds=submission.seconds,
                        comment=submission.comment,
                        own_answer=opened.own_answer if opened else None,
                        simulated=person.simulated,
                    )
                    append_event(connection, decision)
                    drop_draft(connection, task.id, person.name)
                    drop_claim(connection, task.id, person.name)
                elif role is not None:
                    save_draft(connection, task.id, person.name, submission.make_draft())
            if conflict is not None:
                raise conflict
            self.log.add(decision)
            events.append(decision)
            if current := self._content.tasks.get(task.id):
                self.states[task.id] = self._fold(current, events)
        self.synchronise()
        return decision

    def save_draft(self, listed: ListedTask, person: Reviewer, submission: Submission) -> None:
        """Save a person's draft and renew their claim, if any.

        Raises:
            NoRightError: The task is not for this person.
        """
        name = listed.task.id
        if self.open_task(listed, person) is None:
            raise NoRightError(f"{name}: the task is not for {person.name}")
        with self.database.write() as connection:
            save_draft(connection, name, person.name, submission.make_draft())
            if read_claims(connection, self.seconds).get(name) == person.name:
                claim_task(connection, name, person.name, self.seconds)

    def claim(self, listed: ListedTask, person: Reviewer) -> None:
        """Claim a task, or renew the claim. Independent tasks need no claim.

        Raises:
            NoRightError: The task does not wait for this person.
            DecisionConflictError: Another person has claimed it.
        """
        opened = self.open_task(listed, person)
        if opened is None or not opened.may_decide:
            raise NoRightError(f"{listed.task.id}: the task does not wait for {person.name}")
        if listed.kind.design == "everyone":
            return
        with self.database.write() as connection:
            is_free = claim_task(connection, listed.task.id, person.name, self.seconds)
        if not is_free:
            raise DecisionConflictError(listed.task, "claimed", opened.claimed_by, opened.base)

    def release(self, listed: ListedTask, person: Reviewer) -> None:
        """Release a claim."""
        with self.database.write() as connection:
            drop_claim(connection, listed.task.id, person.name)

    def close(self) -> None:
        """Close the live log, and let another server use the folder."""
        self.database.close()
        os.close(self._lock)


def find_base(listed: ListedTask, events: list[ReviewDecision], person: str) -> str | None:
    """Return the id of the newest event that a person's decision follows.

    In independent tasks, others' decisions do not count.
    """
    is_apart = listed.kind.design == "everyone"
    ids = [event.id for event in events if not is_apart or event.person == person]
    return ids[-1] if ids else None


def _find_conflict(
    listed: ListedTask,
    events: list[ReviewDecision],
    person: Reviewer,
    submission: Submission,
    claim: str | None,
) -> DecisionConflictError | None:
    task, base = listed.task, find_base(listed, events, person.name)
    if submission.content_hash != task.content_hash:
        return DecisionConflictError(task, "changed", None, base)
    if submission.base != base:
        by = next((event.person for event in events if event.id == base), None)
        return DecisionConflictError(task, "decided", by, base)
    if listed.kind.design != "everyone" and claim not in (None, person.name):
        return DecisionConflictError(task, "claimed", claim, base)
    return None


def _find_time(events: list[ReviewDecision], now: datetime) -> datetime:
    """Return the time of a new decision on a task: now, but later than all earlier ones on it.

    Decisions are folded in order of time, and the clock may be set back.
    """
    latest = max((event.time for event in events), default=now - timedelta(days=1))
    return max(now, latest + timedelta(microseconds=1))
