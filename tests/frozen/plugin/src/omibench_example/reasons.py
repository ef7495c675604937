"""The filter reason `too_long` for overly long statements."""

from __future__ import annotations

from omibench.stages.filter.candidate import Case
from omibench.stages.filter.reasons.registry import reason

MOST_WORDS = 400


@reason("too_long")
def too_long(case: Case) -> str | None:
    """Return evidence if the statement has more than 400 words."""
    words = len(case.candidate.statement.split())
    return f"the statement has {words} words; at most {MOST_WORDS}" if words > MOST_WORDS else None
