"""The pending calls in their order, and the circuit breaker of an endpoint."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from threading import Lock

from omibench.models.api.failures import Failure
from omibench.schemas.request import Request


@dataclass(eq=False)
class PendingCall:
    """One call: samples of one conversation, and its number of failed attempts.

    `breaks_server`: the server broke at it, and then answered another call.
    """

    requests: tuple[Request, ...]
    attempts: int = 0
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

    def __iter__(self) -> Iterator[PendingCall]:
        return iter([*self._fresh, *(job for _, _, job in sorted(self._waiting)), *self._late])


# A circuit breaker: detects that an endpoint is unavailable, and when it is back.
#
# After a number of consecutive requests that never reached a model, or at which the server broke,
# only single probes are sent, at growing intervals (M. Nygard, Release It!, 2nd ed., 2018, section
# 5.2). The first answer resumes sending. Times are seconds of a monotonic clock and come from the
# caller.

OPEN_AFTER = 5
"""Consecutive failures after which an endpoint counts as unavailable."""
SERVER_ERRORS = 10
"""Different requests at which the server breaks (5xx) in a row after which it does too. A request
at which it broke before it answered another one does not count again."""
FIRST_PROBE_S = 1.0
LONGEST_PROBE_S = 60.0
LOOK_S = 1.0
"""Seconds after which others check again whether a probe was answered."""
NEVER_ANSWERED_S = 60.0
"""Seconds after which an address that has never answered is given up."""


class Outage:
    """The state of one endpoint. Runs in several threads can share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers = 0
        self._interval = FIRST_PROBE_S
        self._next = 0.0
        self.is_known = False
        """Whether it has ever answered: its address is right."""
        self.is_awaited = False
        """Whether it is waited for as long if it has never answered."""
        self._close()

    def _close(self) -> None:
        self.is_open = self._probing = False
        """`is_open`: the endpoint is unavailable, so that only probes are sent."""
        self.since: float | None = None
        """Time of the first of the consecutive failures."""
        self._row = 0
        self._failed: set[PendingCall] = set()
        self._broke: set[PendingCall] = set()

    def wait(self, now: float) -> float:
        """Return the seconds until a request can be sent, 0 for now."""
        with self._lock:
            if not self.is_open:
                return 0.0
            return LOOK_S if self._probing else max(0.0, self._next - now)

    def send(self) -> bool:
        """Note a sent request; returns whether it is a probe."""
        with self._lock:
            self._probing = self.is_open
            return self.is_open

    def note_answer(self) -> bool:
        """Note an answer of the endpoint; returns whether it had been unavailable."""
        with self._lock:
            was_open, self.is_known = self.is_open, True
            for call in self._broke:
                call.breaks_server = True
            self._close()
            self._answers += 1
            if was_open:
                self._answers = 1
                self._interval = max(FIRST_PROBE_S, self._interval / 2)
            elif self._answers >= OPEN_AFTER:
                self._interval = FIRST_PROBE_S
            return was_open

    def begin(self, now: float, outage_s: float) -> None:
        """Start a run: it waits again, even after another run has given up the endpoint."""
        if self.is_over(now, outage_s):
            with self._lock:
                self._close()

    def note_failure(  # noqa: PLR0913 (a failure, what failed, and what else there is to ask)
        self,
        failure: Failure,
        now: float,
        *,
        call: PendingCall,
        probe: bool,
        chance: float,
        enough: int,
    ) -> bool:
        """Note a failure; returns whether the endpoint is unavailable and caused it.

        Args:
            failure: The failure.
            now: The time.
            call: What failed.
            probe: Whether it was sent as a probe.
            chance: Uniform in [0, 1).
            enough: Consecutive failures that never reached a model after which it is unavailable.
        """
        with self._lock:
            self.is_known = self.is_known or failure.status is not None
            broke = failure.is_server_error and (self.is_open or not call.breaks_server)
            if plans := self.is_open and probe:
                self._probing = False
                self._interval = min(LONGEST_PROBE_S, 2 * self._interval)
            concerns = failure.concerns_endpoint or broke
            if concerns:
                self.since = now if self.since is None else self.since
                if broke:
                    self._broke.add(call)
                else:
                    self._row += 1
                    self._failed.add(call)
                # One request that is rejected again and again says nothing about the others.
                is_away = self._row >= enough and (failure.offline or len(self._failed) > 1)
                if broke:
                    is_away = len(self._broke) >= SERVER_ERRORS
                if not self.is_open and is_away:
                    self.is_open, self._answers, plans = True, 0, True
            if plans:  # spread over time, so that not all processes probe at once
                wait = self._interval * (1 - 0.2 * chance)
                self._next = now + max(wait, failure.retry_after_s or 0.0)
            return concerns and self.is_open

    def note_cancelled(self, *, probe: bool) -> None:
        """Note a cancelled request with an unknown outcome."""
        with self._lock:
            self._probing = self._probing and not probe

    def is_over(self, now: float, outage_s: float, has_answered: bool = False) -> bool:
        """Return whether the endpoint has been unavailable for too long to wait.

        `has_answered`: it has answered before, but not to this process.
        """
        with self._lock:
            if not self.is_open or self.since is None:
                return False
            patient = has_answered or self.is_known or self.is_awaited
            return now - self.since >= (outage_s if patient else min(outage_s, NEVER_ANSWERED_S))

    def describe_end(self, now: float, outage_s: float, why: str) -> str:
        """Describe the end of waiting; `why` is the message of the last failure."""
        away = now - (now if self.since is None else self.since)
        if self.is_known:
            return (
                f"the endpoint has been unavailable for {away / 60:.1f} min, and "
                f"`limits.outage_s` is {outage_s:g} s: {why}; finished answers are kept, so run "
                "the command again when it is back"
            )
        return (
            f"the endpoint has not answered once in {away:.0f} s: {why}; check `base_url` and "
            "that the server is running, then run the command again"
        )


@cache
def get_outage(endpoint: Hashable) -> Outage:
    """Return the state of an endpoint, shared by all runs of this process."""
    return Outage()
