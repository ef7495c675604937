"""Which misbehaviour meets which request.

Faults of a script or a rate follow from the request and the number of its attempt, so that a run
meets the same ones whatever the order in which its requests arrive; bursts and limits follow from
arrival and time, as they do at a provider.
"""

from __future__ import annotations

import math
import time
from collections import deque
from email.utils import formatdate
from statistics import NormalDist

from model_server.asked import Asked, uniform
from model_server.config import Config, Fault, Step

OK = Fault(kind="ok")


def planned(config: Config, asked: Asked, attempt: int, arrival: int) -> Fault:
    """The fault of this attempt (from 0) of a request that arrives as the `arrival`-th (from 0)."""
    for rule in config.script:
        if rule.match in asked.text:
            return rule.steps[attempt] if attempt < len(rule.steps) else OK
    for burst in config.bursts:
        since = arrival - burst.first
        if since >= 0 and since % burst.every < burst.length:
            return burst.fault
    if not config.faults:
        return OK
    u = uniform("fault", config.seed, asked.key, attempt)
    for fault in config.faults:
        u -= fault.rate
        if u < 0:
            return fault
    return OK


def nth(steps: list[Step], index: int) -> Fault:
    """The fault of the `index`-th event, ok after the last."""
    return steps[index] if index < len(steps) else OK


def latency(config: Config, asked: Asked, attempt: int) -> float:
    """Seconds until the answer: lognormal with the median and sigma of the configuration."""
    if not config.latency_s or not config.latency_sigma:
        return config.latency_s
    u = uniform("latency", config.seed, asked.key, attempt)
    z = NormalDist().inv_cdf(min(max(u, 1e-9), 1 - 1e-9))
    return config.latency_s * math.exp(config.latency_sigma * z)


def retry_after(fault: Fault, now: float) -> dict[str, str]:
    """The header that tells when to come back, in the fault's form. `now` is Unix time."""
    wait = fault.retry_after_s
    if wait is None or fault.retry_after_form == "none":
        return {}
    if fault.retry_after_form == "ms":
        return {"retry-after-ms": str(round(wait * 1000))}
    if fault.retry_after_form == "date":  # whole seconds: never earlier than asked
        return {"retry-after": formatdate(math.ceil(now + wait), usegmt=True)}
    return {"retry-after": f"{wait:g}"}


class Window:
    """A cap on what is spent in any `window_s` seconds."""

    def __init__(self) -> None:
        self._spent: deque[tuple[float, float]] = deque()
        self._sum = 0.0

    def wait(self, amount: float, cap: float, window_s: float) -> float:
        """0 and the amount is booked, or the seconds until it would fit."""
        now = time.monotonic()
        while self._spent and self._spent[0][0] <= now - window_s:
            self._sum -= self._spent.popleft()[1]
        over = self._sum + amount - cap
        if over <= 1e-9 or not self._spent:  # one that exceeds the cap alone passes alone
            self._spent.append((now, amount))
            self._sum += amount
            return 0.0
        for when, spent in self._spent:
            over -= spent
            if over <= 1e-9:
                return when + window_s - now
        return self._spent[-1][0] + window_s - now


class Limits:
    """Requests per minute."""

    def __init__(self) -> None:
        self.requests = Window()

    def exceeded(self, config: Config) -> Fault | None:
        """A 429 with the time to wait, or None and the request is booked."""
        if config.rpm is None:
            return None
        wait = self.requests.wait(1, config.rpm * config.window_s / 60, config.window_s)
        return Fault(kind="rate_limit", retry_after_s=round(wait + 1e-3, 3)) if wait else None
