"""When a cell has failed: nobody answered, or too many of its requests ended in errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from omibench.schemas.request import NOT_BOUGHT, Outcome

ERROR: Outcome = "provider_error"


def failed_reason(outcomes: Mapping[str, int], share: float) -> str | None:
    """Why a cell with these outcomes (outcome -> responses) has failed; None where it has not.

    Only errors of the provider count: refused and truncated responses are results, and what the
    budget stopped was never sent. `share` of all responses, in [0, 1], may be errors.
    """
    total, errors = sum(outcomes.values()), outcomes.get(ERROR, 0)
    if not errors:
        return None
    if not count_answered(outcomes):
        return "no request was answered"
    if errors > share * total:
        return f"more than {100 * share:g} % of its requests (infer.failed_share) ended in errors"
    return None


def count_answered(outcomes: Mapping[str, int]) -> int:
    """How many responses came, whatever they hold."""
    counts = Counter(outcomes)
    return counts.total() - sum(counts[outcome] for outcome in NOT_BOUGHT)
