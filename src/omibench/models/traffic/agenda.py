"""What is still to be sent, and in which order."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from omibench.schemas.request import Request


@dataclass(eq=False)
class PendingCall:
    """One call: samples of one conversation, and how many attempts at them have failed.

    `calls` counts those sent, also those that reached no model and so were no attempt.
    """

    requests: tuple[Request, ...]
    attempts: int = 0
    calls: int = 0


class Agenda:
    """Retries that are due come first, then fresh jobs, and at the end the often failed ones."""

    def __init__(self, jobs: Iterable[PendingCall]) -> None:
        self._fresh = deque(jobs)
        self._late: deque[PendingCall] = deque()
        self._waiting: list[tuple[float, int, PendingCall]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._fresh) + len(self._late) + len(self._waiting)

    def next(self, now: float) -> PendingCall | None:
        """Take the next job, or None when none is due."""
        if self._waiting and self._waiting[0][0] <= now:
            return heapq.heappop(self._waiting)[2]
        if self._fresh:
            return self._fresh.popleft()
        if self._late:
            return self._late.popleft()
        return None

    def wait(self, now: float) -> float | None:
        """Seconds until a job is due: 0 for now, None when there is none."""
        if self._fresh or self._late:
            return 0.0
        return max(0.0, self._waiting[0][0] - now) if self._waiting else None

    def put_back(self, job: PendingCall) -> None:
        """Put a job back that was taken and not sent."""
        self._fresh.appendleft(job)

    def schedule(self, job: PendingCall, due: float) -> None:
        """Send a job again at `due`."""
        self._count += 1
        heapq.heappush(self._waiting, (due, self._count, job))

    def schedule_last(self, job: PendingCall, due: float) -> None:
        """Send a job again after all the fresh ones; at `due` when there are none."""
        if self._fresh:
            self._late.append(job)
        else:
            self.schedule(job, due)

    def take_rest(self) -> list[PendingCall]:
        """Take all that is left."""
        jobs = [*self._fresh, *(job for _, _, job in sorted(self._waiting)), *self._late]
        self._fresh.clear()
        self._waiting.clear()
        self._late.clear()
        return jobs
