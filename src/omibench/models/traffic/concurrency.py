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
