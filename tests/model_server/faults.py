"""Which misbehaviour meets which request.

Faults of a script or a rate follow from the request and the number of its attempt, so that a run
meets the same ones whatever the order in which its requests arrive.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from model_server.asked import Asked, uniform
from model_server.config import Config, Fault, Step

OK = Fault(kind="ok")


def planned(config: Config, asked: Asked, attempt: int, arrival: int) -> Fault:
    """The fault of this attempt (from 0) of a request that arrives as the `arrival`-th (from 0)."""
    for rule in config.script:
        if rule.match in asked.text:
            return rule.steps[attempt] if attempt < len(rule.steps) else OK
    if arrival < len(config.opening):
        return config.opening[arrival]
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


def retry_after(fault: Fault) -> dict[str, str]:
    """The header that tells when to come back, if the fault says so."""
    wait = fault.retry_after_s
    return {} if wait is None else {"retry-after": f"{wait:g}"}
