"""One run of calls to an endpoint: what is sent when, again, or no more.

First the limits of a run (requests in flight, and per minute), then the run, then its thread.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from queue import SimpleQueue
from random import SystemRandom
from threading import Thread
from typing import NamedTuple

from omibench.errors import ModelError, OmibenchError, OutageError
from omibench.models.api.failures import (
    OPEN_AFTER,
    Agenda,
    Failure,
    Outage,
    PendingCall,
    wait_s,
    was_unsent,
)
from omibench.models.api.stop import stoppable
from omibench.models.provider import Budget, Reservation
from omibench.params.models.base import Limits
from omibench.schemas.request import Request, Response
from omibench.text.masking import mask

NOISE = 0.1
"""Share of rejected requests in a window that does not reduce the limit."""
SLOWER = 3.0
"""A window this many times slower than the quickest counts as half rejected."""
_ENOUGH = 8
_STEPS = 32


class Concurrency:
    """A limit between 1 and `cap`. Times come from the caller, so that it can be simulated."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self._limit = float(cap)
        self.window = 0
        """Number of the window; requests started in an earlier one do not count for this one."""
        self._quickest: float | None = None
        self._clear()

    @property
    def limit(self) -> int:
        """The current maximum of requests in flight."""
        return int(self._limit)

    def note_end(self, window: int, *, congested: bool, latency_s: float | None = None) -> None:
        """Note the end of an attempt started in `window`; `latency_s` if it was answered."""
        if window != self.window:
            return
        self._ended += 1
        self._congested += congested
        if latency_s is not None:
            self._answered += 1
            self._latency += latency_s
        if self._ended >= self.limit or self._congested >= self._limit / 2:
            self._close()

    def halve(self) -> None:
        """Halve the limit after everything was rejected."""
        self._limit = max(1.0, self._limit / 2)
        self.window += 1
        self._clear()

    def _close(self) -> None:
        over = max(0.0, self._congested / self._ended - NOISE) / (1 - NOISE)
        if self._is_slow():
            over = max(over, 0.5)
        if over:
            self._limit = max(1.0, self._limit * (1 - over / 2))
            self.window += 1
        else:
            self._limit = min(float(self.cap), self._limit + max(1.0, self.cap / _STEPS))
        self._clear()

    def _is_slow(self) -> bool:
        """Return whether answers became much slower; the new latency is then the baseline."""
        if self._answered < _ENOUGH:
            return False
        mean = self._latency / self._answered
        slow = self._quickest is not None and mean > SLOWER * self._quickest
        if slow or self._quickest is None or mean < self._quickest:
            self._quickest = mean
        return slow

    def _clear(self) -> None:
        self._ended = self._congested = self._answered = 0
        self._latency = 0.0


# Per-minute caps on requests and tokens, kept by spacing the calls.

FIRST_GUESS = 4000.0
"""Estimated tokens of a call before the first is counted."""
UNLIMITED = 1e15
BURST_S = 0.05
"""Seconds worth of units that can be sent at once, so that a late timer costs nothing."""


class RateLimiter:
    """Allows `per_minute` units in any minute, spread evenly, since providers also count seconds.

    A token bucket (ITU-T I.371, annex A, in its continuous form). Times are seconds of any
    monotonic clock. An amount larger than the bucket passes when the bucket is full and leaves it
    in debt.
    """

    def __init__(self, per_minute: float, now: float) -> None:
        self._size = max(1.0, per_minute / 60 * BURST_S)
        # A full bucket and the flow of a minute add up to per_minute.
        self._per_second = (per_minute - (self._size - 1)) / 60
        self._level = self._size
        self._at = now

    def wait(self, amount: float, now: float) -> float:
        """Return the seconds until `amount` can be sent, 0 for now."""
        self._fill(now)
        lacking = min(amount, self._size) - self._level
        return max(0.0, lacking / self._per_second) if lacking > 1e-9 else 0.0

    def take(self, amount: float, now: float) -> None:
        """Take `amount`. A negative amount is returned: less was used than taken."""
        self._fill(now)
        self._level = min(self._size, self._level - amount)

    def _fill(self, now: float) -> None:
        passed = max(0.0, now - self._at)
        self._level = min(self._size, self._level + passed * self._per_second)
        self._at = max(now, self._at)


class Caps:
    """The caps of one endpoint. Tokens are estimated by the mean of the calls so far."""

    def __init__(
        self, requests_per_minute: float | None, tokens_per_minute: float | None, now: float
    ) -> None:
        self._requests = RateLimiter(requests_per_minute or UNLIMITED, now)
        self._tokens = RateLimiter(tokens_per_minute or UNLIMITED, now)
        self._used = self._calls = 0

    def guess(self) -> float:
        """Estimate the tokens of the next call."""
        return self._used / self._calls if self._calls else FIRST_GUESS

    def wait(self, now: float) -> float:
        """Return the seconds until a call with the estimated tokens can be sent."""
        return max(self._requests.wait(1, now), self._tokens.wait(self.guess(), now))

    def take(self, now: float) -> float:
        """Take a call from the caps. Returns its estimated tokens."""
        guess = self.guess()
        self._requests.take(1, now)
        self._tokens.take(guess, now)
        return guess

    def correct(self, guessed: float, tokens: int | None, now: float) -> None:
        """Correct a call estimated at `guessed` to `tokens`; None if they were not counted."""
        if tokens is not None:
            self._used += tokens
            self._calls += 1
            self._tokens.take(tokens - guessed, now)


# The run itself, in one event loop.

HOPELESS = 20
"""Stop sending after this many permanent rejections before the first answer."""
DOUBTFUL = 200
"""After this many content rejections before the first answer, content is not the reason."""
FATAL = 3
"""Failures such as a wrong key or an empty account that end a run which has had answers."""
ALONE_S = 15.0
"""Seconds for which the first request to a new endpoint is sent alone: it detects a wrong key,
address or model name, and one that takes longer was accepted."""
STOP_S = 5.0
"""Seconds that a stopped run has to close its connections."""
_RECENT = 16
_LOG = logging.getLogger("omibench.traffic")


class Sent(NamedTuple):
    """The result of one call: a response to each of the first requests of the job, in order.

    `cost_usd` and `tokens` cover the whole call; None if the provider did not count.
    """

    responses: list[Response]
    cost_usd: float | None
    tokens: int | None


Answer = tuple[Request, Response]
Send = Callable[[Sequence[Request]], Awaitable[Sent]]
"""One attempt at the samples of one conversation. Raises Failure."""
Open = Callable[[], AbstractAsyncContextManager[Send]]
"""Opens the connection inside the loop and closes it at the end."""


def describe_outage(reason: str, outage_s: float) -> str:
    """Announce an outage: only probes are sent, for at most `outage_s` seconds."""
    longest = f"{outage_s:.3g} s" if outage_s < 60 else f"{outage_s / 60:.3g} min"
    return (
        f"omibench: the endpoint is unavailable ({reason}); all requests wait, and single probes "
        f"check whether it is back, for at most {longest} (`limits.outage_s`)"
    )


class Dispatch:
    """One run over calls, inside one event loop whose time is `clock`.

    `deliver` gets each request with its response. `stored_answers` is the number of other requests
    that were answered before; `outage` is the state of the endpoint, shared by all its runs.
    """

    def __init__(  # noqa: PLR0913, PLR0917 (what a run needs, each of another kind)
        self,
        calls: Sequence[PendingCall],
        limits: Limits,
        budget: Budget,
        deliver: Callable[[Request, Response], None],
        clock: Callable[[], float],
        stored_answers: int = 0,
        outage: Outage | None = None,
    ) -> None:
        self.agenda, self.limits, self.budget = Agenda(calls), limits, budget
        self._deliver, self._clock = deliver, clock
        self._total = sum(len(call.requests) for call in calls)
        self._concurrency = Concurrency(limits.concurrency)
        self._caps = Caps(limits.requests_per_minute, limits.tokens_per_minute, clock())
        self._running: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._unwritten = 0
        self._answered = False
        self._turned_down = self._fatal = 0
        self._stored_answers = stored_answers
        self._outage = outage or Outage()
        self._outage.begin(clock(), limits.outage_s)
        self._alone = outage is not None and not outage.is_known and stored_answers == 0
        self._alone_until = math.inf
        self._doubtful: list[tuple[PendingCall, Failure]] = []
        self._recent: deque[bool] = deque(maxlen=_RECENT)
        self._held_until = 0.0
        self._over: Response | None = None
        """The response to all requests that are not sent any more."""
        self._stop_at: float | None = None
        self._broken: BaseException | None = None
        self._last_failure = ""
        self._reasons: Counter[str] = Counter()
        self._random = SystemRandom()

    async def run(self, send: Send) -> None:
        """Send all jobs, deliver all responses. If cancelled, calls in flight settle as unknown.

        After `stop`, unsent requests are not delivered. Raises ModelError, after the calls in
        flight have ended, if no request can succeed.
        """
        try:
            while (wait := self._start(send)) is not None or self._running:
                if self._stop_at is not None and (wait := self._stop_at - self._clock()) <= 0:
                    break
                self._changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._changed.wait()
        finally:
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)
        if self._broken is not None:
            raise self._broken
        if self._stop_at is not None:
            return
        self._turn_down_doubtful()
        if self._over is not None:
            for job in self.agenda:
                self._give_up(job, self._over)
        if self._reasons:
            (commonest, times), *others = self._reasons.most_common()
            suffix = f" ({times} times; {len(others)} other reasons)" if others else ""
            _LOG.warning(
                "%d of %d requests got no answer: %s%s",
                self._reasons.total(), self._total, commonest, suffix,
            )  # fmt: skip

    def stop(self, wait_s: float) -> None:
        """Stop sending; calls in flight have `wait_s` seconds to end."""
        self._stop_at = self._clock() + wait_s
        self._changed.set()

    def note_written(self) -> None:
        """Note that a delivered response is in the store; this frees its slot."""
        self._unwritten -= 1
        self._changed.set()

    def _start(self, send: Send) -> float | None:
        """Start all jobs that can start; returns the seconds until the next, or None."""
        while self._over is None and self._broken is None and self._stop_at is None:
            now = self._clock()
            wait = self._wait(now)
            if wait is None:
                return None
            outage_s = self.limits.outage_s
            if self._outage.is_over(now, outage_s, self._stored_answers > 0):
                reason = self._outage.describe_end(now, outage_s, self._last_failure)
                self._broken = OutageError(reason)
                return None
            if wait > 0:
                return wait
            job = self.agenda.next(now)
            if job is None:
                return None
            try:
                reservation = self.budget.reserve(job.requests)
            except OmibenchError as error:
                self._broken = error  # raised after the calls in flight have ended
                break
            if reservation is None:
                self.agenda.put_back(job)
                if not self._running:
                    self._over = Response(text="", outcome="budget_stop")
                # Calls in flight reserve their worst case; budget may be free when they end.
                return None
            self._alone_until = min(self._alone_until, now + ALONE_S)
            attempt = self._attempt(
                send, job, reservation, self._caps.take(now), self._outage.send()
            )
            task = asyncio.create_task(attempt)
            self._running.add(task)
            task.add_done_callback(self._note_end)
        return None

    def _wait(self, now: float) -> float | None:
        busy = len(self._running)
        if busy >= self._concurrency.limit or (due := self.agenda.wait(now)) is None:
            return None
        if busy + self._unwritten >= self.limits.concurrency:
            return 3600.0  # `note_written` ends it
        if self._alone and busy and now < self._alone_until:
            return self._alone_until - now
        return max(due, self._held_until - now, self._caps.wait(now), self._outage.wait(now))

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._broken = self._broken or task.exception()
        self._changed.set()

    async def _attempt(
        self, send: Send, job: PendingCall, reservation: Reservation, guessed: float, probe: bool
    ) -> None:
        if self._stop_at is not None:  # stopped between its turn and its first step
            self._outage.note_cancelled(probe=probe)
            self.budget.release(reservation)
            return
        window, begun = self._concurrency.window, self._clock()
        try:
            async with asyncio.timeout(self.limits.timeout_s):
                sent = await send(job.requests)
        except TimeoutError as error:
            message = f"no answer within {self.limits.timeout_s:g} s (`limits.timeout_s`)"
            paid = not was_unsent(error)
            late = Failure(message, transient=True, congestion=True, maybe_paid=paid)
            self._handle_failure(job, late, reservation, window, probe)
        except Failure as failure:
            self._handle_failure(job, failure, reservation, window, probe)
        except BaseException as error:
            self._outage.note_cancelled(probe=probe)
            if was_unsent(error):
                self.budget.release(reservation)
            else:
                failed = isinstance(error, Exception)
                stopped = "the run was stopped while it was in flight"
                self.budget.settle(reservation, None, "the provider failed" if failed else stopped)
            raise
        else:
            took = self._clock() - begun
            self.budget.settle(reservation, sent.cost_usd)
            self._concurrency.note_end(window, congested=False, latency_s=took)
            self._caps.correct(guessed, sent.tokens, self._clock())
            self._answered = True
            self._note_reached()
            self._turn_down_doubtful()
            self._recent.append(False)
            for request, response in zip(job.requests, sent.responses, strict=False):
                self._hand_over(request, response.model_copy(update={"latency_s": round(took, 3)}))
            if missing := job.requests[len(sent.responses) :]:
                fewer = Failure("the reply contains fewer samples than requested", transient=True)
                self._retry(PendingCall(missing, job.attempts), fewer)

    def _handle_failure(
        self, job: PendingCall, failure: Failure, reservation: Reservation, window: int, probe: bool
    ) -> None:
        self._last_failure = message = mask(failure.message)
        if failure.maybe_paid:
            self.budget.settle(reservation, failure.cost_usd, message)
        else:
            self.budget.release(reservation)
        _LOG.debug(
            "problem %r, attempt %d: %s", job.requests[0].tags.problem, job.attempts + 1, message
        )
        self._concurrency.note_end(window, congested=failure.congestion)
        self._recent.append(failure.congestion)
        if not failure.transient:
            self._note_reached()
        if failure.refused is None and failure.transient:
            self._retry(job, failure, offline=self._is_offline(job, failure, probe))
        elif failure.refused is not None or (failure.content is not None and self._works):
            self._give_up(job, failure.to_response(works=True))
        else:
            if failure.content is None:
                self._give_up(job, failure.to_response(works=False))
                self._turned_down += 1
            else:
                self._doubtful.append((job, failure))
            self._fatal += failure.fatal
            if self._is_hopeless():
                self._broken = ModelError(f"the endpoint rejects every request: {message}")

    @property
    def _works(self) -> bool:
        """Whether the endpoint answers other requests, in this run or an earlier one."""
        return self._answered or self._stored_answers > 0

    def _turn_down_doubtful(self) -> None:
        """Deliver the requests rejected for their content.

        They count as refused only if others are answered; otherwise the cause concerns all of them.
        """
        doubtful, self._doubtful = self._doubtful, []
        for job, failure in doubtful:
            self._give_up(job, failure.to_response(works=self._works))

    def _is_hopeless(self) -> bool:
        """Return whether no answer can be expected any more; rare gateway errors do not count."""
        if self._answered:
            return self._fatal >= FATAL
        hopeless = self._turned_down >= max(HOPELESS, self._stored_answers)
        return self._fatal > 0 or hopeless or len(self._doubtful) >= DOUBTFUL

    def _note_reached(self) -> None:
        self._alone = False
        if self._outage.note_answer():
            _LOG.warning("omibench: the endpoint answers again")

    def _is_offline(self, job: PendingCall, failure: Failure, probe: bool) -> bool:
        """Return whether the endpoint is unavailable and this failure is a consequence."""
        before, chance = self._outage.is_open, self._random.random()
        enough = min(OPEN_AFTER, self.limits.attempts)
        if not failure.offline:  # a full endpoint can reject all calls in flight at once
            due = len(self._running) + len(self.agenda)
            enough = max(enough, min(self._concurrency.limit, due))
        offline = self._outage.note_failure(
            failure, self._clock(), call=job, probe=probe, chance=chance, enough=enough
        )
        if offline and not before:
            self._concurrency.halve()
            _LOG.warning("%s", describe_outage(mask(failure.message), self.limits.outage_s))
        return offline

    def _retry(self, job: PendingCall, failure: Failure, *, offline: bool = False) -> None:
        requested_s, longest_s = failure.retry_after_s, self.limits.retry_after_s
        if requested_s is not None and requested_s > longest_s:
            moment = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(time.time() + requested_s))
            reason = (
                f"{failure.message}; it asks to wait {requested_s / 60:,.0f} min, until {moment}, "
                f"longer than `limits.retry_after_s` ({longest_s:g} s); run the command again then"
            )
            self._give_up(job, _write_error(reason))
            if self._all_turned_away():
                self._over = _write_error(f"not sent: {reason}")
            return
        if offline and not failure.maybe_paid:
            # it reached no model, so it does not count as an attempt
            self.agenda.schedule_last(job, self._clock())
            return
        job.attempts += 1
        if job.attempts >= self.limits.attempts:
            reason = f"{job.attempts} attempts failed, the last with {failure.message}"
            self._give_up(job, _write_error(reason))
            return
        due = self._clock() + wait_s(failure, job.attempts - 1, self._random.random())
        if requested_s is not None and self._all_turned_away():
            self._held_until = max(self._held_until, due)
        late = offline or job.attempts > self.limits.attempts // 2
        (self.agenda.schedule_last if late else self.agenda.schedule)(job, due)

    def _all_turned_away(self) -> bool:
        """Return whether the endpoint rejects all requests, not just one in many."""
        return 2 * sum(self._recent) >= len(self._recent)

    def _give_up(self, job: PendingCall, response: Response) -> None:
        if response.error is not None and response.outcome != "refused":
            self._reasons[response.error] += len(job.requests)
        for request in job.requests:
            self._hand_over(request, response)

    def _hand_over(self, request: Request, response: Response) -> None:
        self._unwritten += 1
        self._deliver(request, response)


def _write_error(reason: str) -> Response:
    """Return the response to a request that a later run may answer."""
    return Response(text="", outcome="provider_error", error=mask(reason), passing=True)


def run_calls(  # noqa: PLR0913, PLR0917 (what a run needs, each of another kind)
    calls: Sequence[PendingCall],
    connect: Open,
    limits: Limits,
    budget: Budget,
    stored_answers: int = 0,
    outage: Outage | None = None,
) -> Iterator[Answer]:
    """Run a Dispatch in a thread; yield each request with its response as it arrives, each once.

    The slot of a request in flight is freed when the next answer is requested, so a killed process
    never loses more billed answers than it can have in flight. Closing the generator and Ctrl-C
    cancel the calls in flight; Ctrl-C still yields the answers that have arrived. If signals are
    watched (`models.api.stop`), a signal stops sending, and answers are yielded for
    `limits.drain_s` before StopSignal is raised. Raises ModelError if the endpoint rejects every
    request.
    """
    arrived: SimpleQueue[Answer | BaseException | None] = SimpleQueue()
    loop = asyncio.new_event_loop()
    dispatch = Dispatch(
        calls, limits, budget, lambda request, response: arrived.put((request, response)),
        loop.time, stored_answers, outage,
    )  # fmt: skip

    async def send_all() -> None:
        async with connect() as send:
            await dispatch.run(send)

    def work() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(send_all())
        except BaseException as error:
            arrived.put(error)
        else:
            arrived.put(None)

    def tell(callback: Callable[..., object], *values: float) -> None:
        with suppress(RuntimeError):  # the loop ended by itself
            loop.call_soon_threadsafe(callback, *values)

    def end() -> None:
        if thread.is_alive():
            tell(dispatch.stop, 0.0)
            thread.join(STOP_S)

    thread = Thread(target=work, name="omibench traffic", daemon=True)
    with stoppable(lambda at_once: tell(dispatch.stop, 0.0 if at_once else limits.drain_s)):
        thread.start()
        try:
            while (item := arrived.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
                tell(dispatch.note_written)
        except KeyboardInterrupt:
            end()
            while not arrived.empty():
                if isinstance(item := arrived.get(), tuple):
                    yield item
            raise
        finally:
            end()
