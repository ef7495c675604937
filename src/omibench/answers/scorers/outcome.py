"""Verdicts without an answer, and the outcomes that are final before scoring."""

from __future__ import annotations

from omibench.schemas.verdict import ScoredItem, Verdict, VerdictOutcome


def passes_through(item: ScoredItem, rules: str, version: int) -> Verdict | None:
    """Return the verdict on a missing response: refused, empty, provider_error, budget_stop.

    A truncated response is treated like one with finish_reason `length`: an answer before the
    cut-off counts.
    """
    if item.outcome == "answered" or item.outcome == "truncated":  # noqa: PLR1714 (narrows)
        return None
    return make_failed_verdict(item.outcome, "outcome of asking", rules, version)


def find_finish_reason(item: ScoredItem) -> str | None:
    """Return the finish reason, `length` for every truncated response."""
    return "length" if item.outcome == "truncated" else item.finish_reason


def make_failed_verdict(outcome: VerdictOutcome, method: str, rules: str, version: int) -> Verdict:
    """Return the verdict 0 of a response without an answer."""
    return Verdict(
        extracted=None, method=method, verdict=0.0, outcome=outcome, rules=rules, version=version
    )
