"""Failed cells: no response, or too many requests with errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from omibench.schemas.request import NOT_BOUGHT, Outcome

ERROR: Outcome = "provider_error"


def failed_reason(outcomes: Mapping[str, int], share: float) -> str | None:
    """Return why a cell with these outcomes (outcome -> responses) has failed, or None.

    Only errors of the provider count: refused and truncated responses are results, and requests
    stopped by the budget were never sent. `share` is the tolerated share of errors among all
    responses, in [0, 1].
    """
    total, errors = sum(outcomes.values()), outcomes.get(ERROR, 0)
    if not errors:
        return None
    if not count_answered(outcomes):
        return "no request got a response"
    if errors > share * total:
        return f"more than {100 * share:g} % of its requests (infer.failed_share) ended in errors"
    return None


def count_answered(outcomes: Mapping[str, int]) -> int:
    """Return the number of responses of any content."""
    counts = Counter(outcomes)
    return counts.total() - sum(counts[outcome] for outcome in NOT_BOUGHT)
