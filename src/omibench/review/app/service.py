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
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from omibench.errors import OmibenchError
from omibench.params.review import SHORTEST_SECONDS, CalibrationParams
from omibench.review.app.conflicts import (
    Conflict,
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
    find_claim,
    lock_folder,
    read_draft,
    save_draft,
)
from omibench.review.app.decisions import (
    DecisionLog,
    append_event,
    find_time,
    read_events,
    read_task_events,
)
from omibench.review.app.states import WaitingQuery, clear_states, write_people, write_state
from omibench.review.app.tasks import (
    ListedTask,
    ReviewContent,
    choose_role,
    find_awaited,
    may_decide,
    read_content,
    sign_files,
)
from omibench.review.calibration import CalibrationResult, list_qualified, measure_calibration
from omibench.review.check import check_fields
from omibench.review.folder import FileSignature
from omibench.review.outcomes import ReviewRule
from omibench.review.people import AssignedRole, Reviewer
from omibench.review.state import TaskState, compute_state
from omibench.schemas.review import ReviewDecision

log = logging.getLogger("omibench.review")


class Submission(NamedTuple):
    """The submitted content of a decision."""

    fields: Mapping[str, JsonValue]
    comment: str
    seconds: float | None
    content_hash: str
    base: str | None
    confirmed: frozenset[str] = frozenset()
    """Names of the doubts that the person has confirmed (`review.doubts`)."""


class OpenedTask(NamedTuple):
    """A task as opened by one person, with their role, and its state, draft and events."""

    listed: ListedTask
    state: TaskState
    role: AssignedRole
    may_decide: bool
    events: list[ReviewDecision]
    draft: dict[str, Any] | None
    claimed_by: str | None
    is_judged_again: bool = False
    """Whether a sample of it waits for a senior, who must not see others' decisions."""

    def find_base(self, person: Reviewer) -> str | None:
        """Return the id of the newest event that the person's decision follows."""
        return find_base(self.listed, self.events, person.name)


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
            self.write_states()
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def content(self) -> ReviewContent:
        """Return tasks and people; changed files are read again, and others' decisions taken in."""
        signature = sign_files(self.folder)
        if signature != self._signature:
            with self._reading:
                if signature != self._signature:
                    self._read_again(signature)
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
        before = self.log.taken
        try:
            self.log.synchronise()
        except OmibenchError as error:
            log.warning("%s; new decisions are kept in %s", error, LIVE)
        if self.log.taken != before:
            self.write_states()

    def write_states(self) -> None:
        """Compute the states of all tasks from the events."""
        events: defaultdict[str, list[ReviewDecision]] = defaultdict(list)
        with self.database.write() as connection:
            for event in read_events(connection):
                events[event.task].append(event)
            clear_states(connection)
            for listed in self._content.tasks.values():
                state = self.fold(listed, events[listed.task.id])
                awaited = find_awaited(listed.task, listed.kind, state)
                write_state(connection, listed.position, listed.task, state, awaited)
                write_people(connection, listed.task, awaited)

    def fold(self, listed: ListedTask, events: list[ReviewDecision]) -> TaskState:
        """Return the state of a task after some events."""
        return compute_state(
            listed.task, listed.kind, events, self.rule.count_needed(listed.task.kind)
        )

    def list_barred_kinds(self, person: Reviewer) -> frozenset[str]:
        """Return the kinds for which a person has not passed the test.

        It is the test of OMIBench, A.3.2; without `review.calibration` in the params there is none.
        """
        if self.calibration is None:
            return frozenset()
        content, decisions = self.content, self._read_tests_of(person)
        return frozenset(
            kind
            for kind in {listed.task.kind for listed in content.tasks.values()}
            if not list_qualified([person], kind, content.calibration, decisions, self.calibration)
        )

    def measure_tests(self, person: Reviewer) -> list[CalibrationResult]:
        """Return a person's results in the calibration sets."""
        if self.calibration is None:
            return []
        decisions = self._read_tests_of(person)
        return measure_calibration(
            self.content.calibration, decisions, self.calibration, self.shortest_seconds
        )

    def _read_tests_of(self, person: Reviewer) -> list[ReviewDecision]:
        names = [task.id for task in self.content.calibration]
        with self.database.read() as connection:
            return read_task_events(connection, *names, person=person.name)

    def is_barred(self, listed: ListedTask, person: Reviewer) -> bool:
        """Return whether a task requires a test that the person has not passed."""
        is_work = listed.task.purpose == "work"
        return is_work and listed.task.kind in self.list_barred_kinds(person)

    def find_waiting(self, person: Reviewer) -> WaitingQuery:
        """Return the query for the tasks that wait for a person now."""
        return WaitingQuery(person, self.seconds, barred=self.list_barred_kinds(person))

    def find_task(self, name: str) -> ListedTask | None:
        """Return the task with that id."""
        return self.content.tasks.get(name)

    def open_task(self, listed: ListedTask, person: Reviewer) -> OpenedTask | None:
        """Return a task as opened by a person, or None if they cannot see it."""
        task, kind = listed.task, listed.kind
        samples = self.content.samples.get(task.id, ())
        with self.database.read() as connection:
            events = read_task_events(connection, task.id)
            draft = read_draft(connection, task.id, person.name)
            claim = find_claim(connection, task.id, self.seconds)
            is_judged_again = any(
                self.fold(sample, read_task_events(connection, sample.task.id)).status != "settled"
                for sample in samples
            )
        state = self.fold(listed, events)
        role = choose_role(task, kind, state, person)
        if role is None or (not events and self.is_barred(listed, person)):
            return None
        can_decide = may_decide(task, kind, state, person, role)
        claimed_by = claim if claim != person.name else None
        return OpenedTask(
            listed, state, role, can_decide, events, draft, claimed_by, is_judged_again
        )

    def decide(
        self, listed: ListedTask, person: Reviewer, submission: Submission
    ) -> ReviewDecision:
        """Write a decision and the resulting state of the task in one transaction, then add it to
        decisions.jsonl.

        Raises:
            DecisionFieldError: A field is invalid for the kind.
            DoubtError: The person has not confirmed what is odd about the decision.
            NoRightError: The person cannot decide now.
            DecisionConflictError: The content has changed, another person decided in between or has
                claimed the task. The submission is kept as the person's draft.
        """
        task, kind = listed.task, listed.kind
        fields = check_fields(kind, task, submission.fields)
        doubts = list_doubts(kind, task, fields)
        if open_doubts := [d for d in doubts if d.name not in submission.confirmed]:
            raise DoubtError(open_doubts)
        is_barred = self.is_barred(listed, person)
        with self.database.write() as connection:
            events = read_task_events(connection, task.id)
            state = self.fold(listed, events)
            conflict = self._find_conflict(listed, events, person, submission)
            claim = find_claim(connection, task.id, self.seconds)
            if conflict is None and kind.design != "everyone" and claim not in (None, person.name):
                conflict = Conflict("claimed", claim, state, find_base(listed, events, person.name))
            role = choose_role(task, kind, state, person)
            if conflict is None:
                if role is None or is_barred or not may_decide(task, kind, state, person, role):
                    raise NoRightError(f"{task.id}: the task does not wait for {person.name}")
                decision = ReviewDecision(
                    id=uuid.uuid4().hex,
                    task=task.id,
                    kind=task.kind,
                    person=person.name,
                    role=role,
                    time=find_time(events, self.now()),
                    content_hash=task.content_hash,
                    fields=fields,
                    seconds=submission.seconds,
                    comment=submission.comment,
                    simulated=person.simulated,
                )
                append_event(connection, decision)
                state = self.fold(listed, [*events, decision])
                awaited = find_awaited(task, kind, state)
                write_state(connection, listed.position, task, state, awaited)
                drop_draft(connection, task.id, person.name)
                drop_claim(connection, task.id, person.name)
            elif role is not None:
                save_draft(connection, task.id, person.name, make_draft(submission))
        if conflict is not None:
            raise DecisionConflictError(conflict)
        self.synchronise()
        return decision

    def save_draft(self, listed: ListedTask, person: Reviewer, submission: Submission) -> None:
        """Save a person's draft and renew their claim, if any.

        Raises:
            NoRightError: The task is not for this person.
        """
        if self.open_task(listed, person) is None:
            raise NoRightError(f"{listed.task.id}: the task is not for {person.name}")
        with self.database.write() as connection:
            save_draft(connection, listed.task.id, person.name, make_draft(submission))
            if find_claim(connection, listed.task.id, self.seconds) == person.name:
                claim_task(connection, listed.task.id, person.name, self.seconds)

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
            base = opened.find_base(person)
            raise DecisionConflictError(Conflict("claimed", opened.claimed_by, opened.state, base))

    def release(self, listed: ListedTask, person: Reviewer) -> None:
        """Release a claim."""
        with self.database.write() as connection:
            drop_claim(connection, listed.task.id, person.name)

    def close(self) -> None:
        """Close the live log, and let another server use the folder."""
        self.database.close()
        os.close(self._lock)

    def _find_conflict(
        self,
        listed: ListedTask,
        events: list[ReviewDecision],
        person: Reviewer,
        submission: Submission,
    ) -> Conflict | None:
        state = self.fold(listed, events)
        base = find_base(listed, events, person.name)
        if submission.content_hash != listed.task.content_hash:
            return Conflict("changed", None, state, base)
        if submission.base != base:
            by = next((event.person for event in events if event.id == base), None)
            return Conflict("decided", by, state, base)
        return None

    def _read_again(self, signature: tuple[FileSignature, ...]) -> None:
        """Load changed files; keep the previous contents if they cannot be read."""
        self._signature = signature
        try:
            self._content = read_content(self.folder)
        except OmibenchError as error:
            log.warning("the review continues with the previous tasks and people: %s", error)
            return
        for line in self._content.errors:
            log.warning("%s", line)
        self.write_states()


def find_base(listed: ListedTask, events: list[ReviewDecision], person: str) -> str | None:
    """Return the id of the newest event that a person's decision follows.

    In independent tasks, others' decisions do not count.
    """
    is_apart = listed.kind.design == "everyone"
    ids = [event.id for event in events if not is_apart or event.person == person]
    return ids[-1] if ids else None


def make_draft(submission: Submission) -> dict[str, Any]:
    """Return a form as a draft: not submitted yet, or rejected."""
    return {
        "fields": dict(submission.fields),
        "comment": submission.comment,
        "seconds": submission.seconds,
        "content_hash": submission.content_hash,
    }
