"""What a run tells of its endpoint, in one line each."""

from __future__ import annotations

import time
from collections import Counter

_MINUTE = 60
RECOVERED = "omibench: the endpoint answers again"


def describe_outage(reason: str, outage_s: float) -> str:
    """Nothing is sent but probes, for `outage_s` seconds at most."""
    longest = f"{outage_s:.3g} s" if outage_s < _MINUTE else f"{outage_s / _MINUTE:.3g} min"
    return (
        f"omibench: the endpoint is away ({reason}): all wait, and one request at a time looks "
        f"whether it is back, for {longest} at most (`limits.outage_s`)"
    )


def describe_wait(seconds: float, longest_s: float) -> str:
    """The endpoint asks for a longer wait than `limits.retry_after_s` allows."""
    moment = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(time.time() + seconds))
    return (
        f"it asks to come back in {seconds / 60:,.0f} min, at {moment}, which is longer than "
        f"`limits.retry_after_s` ({longest_s:g} s): run the command again then"
    )


def describe_unanswered(reasons: Counter[str], total: int) -> str:
    """How many of `total` requests got no answer, and the reason that most of them have."""
    (commonest, times), *further_reasons = reasons.most_common()
    suffix = f" ({times} times; {len(further_reasons)} other reasons)" if further_reasons else ""
    return f"{reasons.total()} of {total} requests got no answer: {commonest}{suffix}"
