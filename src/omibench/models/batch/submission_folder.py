"""The folder of a model's submissions: written durably, one process submitting at a time."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from pydantic import ValidationError

from omibench.errors import ModelError, reason_of
from omibench.files.atomic import write_private
from omibench.files.locks import LockError, try_lock
from omibench.files.modes import make_folder, open_new
from omibench.models.batch.submission import Submission
from omibench.models.provider import Reservation
from omibench.models.traffic.stop import pause

KEPT_S = 28 * 86400.0
"""Seconds for which a collected submission is remembered: providers keep results 29 or 30 days."""
_LOCK = ".lock"
_WAIT_S = 0.2
_SAY_AFTER_S = 10.0
log = logging.getLogger("omibench")


def locate_submissions(state: Path, identity: Mapping[str, Any]) -> Path:
    """The folder of one model below `state`: provider and 12 digits of its identity's hash."""
    text = json.dumps(dict(identity), sort_keys=True)
    return state / f"{identity['provider']}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def warn_of_batches(name: str, state: Path | None, identity: Mapping[str, Any]) -> None:
    """Say so when a model that is to be asked directly has batches out: they would be paid too."""
    if state is None or not (folder := locate_submissions(state, identity)).is_dir():
        return
    out = [s for s in SubmissionFolder(folder).submissions() if not s.collected]
    if out:
        log.warning(
            "model %r is asked directly, and %d requests are out in %d batches that nobody has "
            "collected; with `batch: true` they are collected and not paid again",
            name,
            sum(len(s.draws) for s in out),
            len(out),
        )


class SubmissionFolder:
    """The submissions of one model. Raises ModelError when its folder cannot be used."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        try:
            make_folder(folder)
        except OSError as error:
            raise ModelError(f"{folder}: cannot be made: {reason_of(error)}") from None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Alone among all processes, as long as this one lives; waits for others.

        Raises ModelError where the file system cannot lock: two processes might submit the same.
        """
        try:
            file = open_new(self.path / _LOCK, os.O_RDWR)
        except OSError as error:
            raise ModelError(f"{self.path}: cannot be locked: {reason_of(error)}") from None
        try:
            since, has_logged = time.monotonic(), False
            while not _lock(file, self.path):
                if not has_logged and time.monotonic() - since > _SAY_AFTER_S:
                    has_logged = True
                    log.info("%s: waiting while another process submits", self.path)
                pause(_WAIT_S)
            yield
        finally:
            os.close(file)

    def submissions(self) -> list[Submission]:
        """Every submission, oldest first; those that were collected long ago are forgotten.

        Raises ModelError when one cannot be read.
        """
        submissions = [self._read(path) for path in self.path.glob("*.json")]
        old = time.time() - KEPT_S
        for submission in submissions:
            if submission.collected and submission.asked_at < old:
                self.drop(submission)
        remaining = [s for s in submissions if not (s.collected and s.asked_at < old)]
        return sorted(remaining, key=lambda s: (s.asked_at, s.fingerprint))

    def save(self, submission: Submission) -> Submission:
        """Note a submission; when this returns, neither a kill nor a power cut can lose it."""
        path = self._path(submission)
        text = submission.model_dump_json(exclude_defaults=True)
        write_private(path, text.encode() + b"\n", durable=True)
        return submission

    def drop(self, submission: Submission) -> None:
        """Forget a submission."""
        self._path(submission).unlink(missing_ok=True)

    def draft(self) -> ReservationDraft:
        """A list of reservations for lines that no submission holds yet. Lock before."""
        return ReservationDraft(self.path / f"{token_hex(8)}.draft")

    def drafts(self) -> list[ReservationDraft]:
        """What dead processes have left of theirs. Lock before."""
        return [ReservationDraft(path) for path in self.path.glob("*.draft")]

    def sweep(self) -> None:
        """Remove files that a dead process was writing. Lock before."""
        for path in self.path.glob(".*.part"):
            if time.time() - path.stat().st_mtime > 86400:
                path.unlink(missing_ok=True)

    def _path(self, submission: Submission) -> Path:
        return self.path / f"{submission.name}.json"

    def _read(self, path: Path) -> Submission:
        try:
            return Submission.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            flaw = "its content is not what was written" if isinstance(error, ValueError) else error
            raise ModelError(
                f"{path}: cannot be read ({flaw}): restore it from a backup; it says what is being "
                "answered already, and without it the same may be paid twice"
            ) from None


class ReservationDraft:
    """Reservations, one a line, so that what a death leaves unused can be given back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unused: dict[int, Reservation] = {}
        """Those of this process that no submission holds."""

    def note(self, reservation: Reservation) -> None:
        """Add one."""
        if reservation.id:
            self.unused[reservation.id] = reservation
            draft = open_new(self.path, os.O_WRONLY | os.O_APPEND)
            with os.fdopen(draft, "a", encoding="ascii") as file:
                file.write(f"{reservation.id} {reservation.worst_usd!r}\n")

    def drop_submitted(self, submission: Submission) -> None:
        """A submission was noted: it holds its reservations from now on."""
        for line in submission.lines:
            self.unused.pop(line.ticket[0], None)

    def read(self) -> list[Reservation]:
        """All that a dead process has noted; a torn last line is left out."""
        try:
            lines = self.path.read_text("ascii").splitlines(keepends=True)
        except FileNotFoundError:
            return []
        pairs = [line.split() for line in lines if line.endswith("\n")]
        return [Reservation(int(number), float(worst)) for number, worst in pairs]

    def remove(self) -> None:
        """Every reservation is in a submission, or was given back."""
        self.path.unlink(missing_ok=True)


def _lock(file: int, folder: Path) -> bool:
    try:
        return try_lock(file)
    except LockError as error:
        raise ModelError(
            f"{folder}: cannot be locked ({error.strerror}), and without a lock two processes may "
            "submit the same batch: keep `study.store` on another file system, or leave `batch` out"
        ) from None
