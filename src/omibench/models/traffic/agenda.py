"""The pending calls, and their order."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from omibench.schemas.request import Request


@dataclass(eq=False)
class PendingCall:
    """One call: samples of one conversation, and its number of failed attempts.

    `calls` also counts those that reached no model and so do not count as attempts.
    `breaks_server`: the server broke at it, and then answered another call.
    """

    requests: tuple[Request, ...]
    attempts: int = 0
    calls: int = 0
    breaks_server: bool = False


class Agenda:
    """The order of calls: due retries first, then new jobs, then those that failed often."""

    def __init__(self, jobs: Iterable[PendingCall]) -> None:
        self._fresh = deque(jobs)
        self._late: deque[PendingCall] = deque()
        self._waiting: list[tuple[float, int, PendingCall]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._fresh) + len(self._late) + len(self._waiting)

    def next(self, now: float) -> PendingCall | None:
        """Take the next job, or None if none is due."""
        if self._waiting and self._waiting[0][0] <= now:
            return heapq.heappop(self._waiting)[2]
        if self._fresh:
            return self._fresh.popleft()
        if self._late:
            return self._late.popleft()
        return None

    def wait(self, now: float) -> float | None:
        """Return the seconds until a job is due: 0 for now, None if there is none."""
        if self._fresh or self._late:
            return 0.0
        return max(0.0, self._waiting[0][0] - now) if self._waiting else None

    def put_back(self, job: PendingCall) -> None:
        """Put back a job that was taken and not sent."""
        self._fresh.appendleft(job)

    def schedule(self, job: PendingCall, due: float) -> None:
        """Schedule a retry of a job at `due`."""
        self._count += 1
        heapq.heappush(self._waiting, (due, self._count, job))

    def schedule_last(self, job: PendingCall, due: float) -> None:
        """Schedule a retry after all new jobs; at `due` if there are none."""
        if self._fresh:
            self._late.append(job)
        else:
            self.schedule(job, due)

    def take_rest(self) -> list[PendingCall]:
        """Take all remaining jobs."""
        jobs = [*self._fresh, *(job for _, _, job in sorted(self._waiting)), *self._late]
        self._fresh.clear()
        self._waiting.clear()
        self._late.clear()
        return jobs
