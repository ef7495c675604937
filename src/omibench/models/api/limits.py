"""The limit of requests in flight: additive increase, multiplicative decrease.

The decrease depends on the share of a window that the endpoint rejected, as in DCTCP (RFC 8257,
section 3.3): all of it halves the limit, a part reduces it in proportion. So a provider that fails
a few requests at any load, as most do, costs no throughput.
"""

from __future__ import annotations

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
