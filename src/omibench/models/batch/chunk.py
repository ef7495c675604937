"""Chunks: lines collected on disk for one batch, within the limits of the provider."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from time import time
from typing import BinaryIO

from omibench.models.batch.api import InputShape
from omibench.models.batch.submission import BatchLine, Submission
from omibench.models.provider import Budget, Reservation
from omibench.schemas.request import Request, Response
from omibench.text.masking import mask

Answer = tuple[Request, Response]


class Chunk:
    """The lines of a future batch. The file has no name, so a crash leaves nothing behind."""

    def __init__(self, folder: Path, shape: InputShape, most_lines: int) -> None:
        self.lines: list[BatchLine] = []
        self.jobs: list[Sequence[Request]] = []
        self._shape = shape
        self._most_lines = min(most_lines, shape.most_lines)
        self._hash = hashlib.sha256()
        self._file: BinaryIO = TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `close`)
        self.size = 0
        self._write(shape.head)

    def close(self) -> None:
        """Close the file, which deletes the lines."""
        self._file.close()

    def fits(self, line: bytes) -> bool:
        """Return whether another line fits. The first always does, since it cannot be divided."""
        added_bytes = len(line) + len(self._shape.between) + len(self._shape.tail)
        full = (
            len(self.lines) >= self._most_lines or self.size + added_bytes > self._shape.most_bytes
        )
        return not (self.lines and full)

    def add(self, line: BatchLine, text: bytes, requests: Sequence[Request]) -> None:
        """Append a line."""
        self._write((self._shape.between if self.lines else b"") + text)
        self.lines.append(line)
        self.jobs.append(requests)

    def seal(self) -> None:
        """End the last line."""
        self._write(self._shape.tail)

    def rewind(self) -> BinaryIO:
        """Return the input from its start: `size` bytes."""
        self._file.seek(0)
        return self._file

    def submission(self, file: str | None) -> Submission:
        """Return the submission to save before the provider is asked to create the batch."""
        return Submission(
            fingerprint=self._hash.hexdigest(),
            asked_at=time(),
            lines=tuple(self.lines),
            file=file,
        )

    def fail_all(self, reason: str, *, passing: bool) -> list[Answer]:
        """Return its requests as `provider_error`, so that a later run sends them again."""
        response = Response(text="", outcome="provider_error", error=mask(reason), passing=passing)
        return [(request, response) for job in self.jobs for request in job]

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)


def settle(budget: Budget, line: BatchLine, cost_usd: float | None) -> None:
    """Settle the reservation of a line. With None it may have been billed.

    A ledger refuses a reservation that was already settled: by another process, or by one that was
    killed before it could note so.
    """
    with suppress(ValueError):
        budget.settle(Reservation(*line.ticket), cost_usd)


def give_back(budget: Budget, reservations: Iterable[Reservation]) -> None:
    """Give back the reservations: none was billed. Those already settled are skipped."""
    for reservation in reservations:
        with suppress(ValueError):
            budget.release(reservation)
