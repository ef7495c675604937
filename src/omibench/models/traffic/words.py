"""Messages of a run about its endpoint, one line each."""

from __future__ import annotations

import time
from collections import Counter

_MINUTE = 60
RECOVERED = "omibench: the endpoint answers again"


def describe_outage(reason: str, outage_s: float) -> str:
    """Announce an outage: only probes are sent, for at most `outage_s` seconds."""
    longest = f"{outage_s:.3g} s" if outage_s < _MINUTE else f"{outage_s / _MINUTE:.3g} min"
    return (
        f"omibench: the endpoint is unavailable ({reason}); all requests wait, and single probes "
        f"check whether it is back, for at most {longest} (`limits.outage_s`)"
    )


def describe_wait(seconds: float, longest_s: float) -> str:
    """Describe a requested wait that is longer than `limits.retry_after_s`."""
    moment = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(time.time() + seconds))
    return (
        f"it asks to wait {seconds / 60:,.0f} min, until {moment}, longer than "
        f"`limits.retry_after_s` ({longest_s:g} s); run the command again then"
    )


def describe_unanswered(reasons: Counter[str], total: int) -> str:
    """Describe the unanswered requests among `total`, and the most common reason."""
    (commonest, times), *further_reasons = reasons.most_common()
    suffix = f" ({times} times; {len(further_reasons)} other reasons)" if further_reasons else ""
    return f"{reasons.total()} of {total} requests got no answer: {commonest}{suffix}"
