"""Counters of a run for a progress bar."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Progress:
    """The progress of the requests of one run. Only the run writes it."""

    total: int = 0
    finished: int = 0
    """Responses of any outcome; `failed` of them without an answer from the provider."""
    failed: int = 0
    attempts: int = 0
    """Calls sent; `retried` of them were not the first of their request."""
    retried: int = 0
    in_flight: int = 0
    limit: int = 0
    """Current maximum of calls in flight."""
    cost_usd: float = 0.0
    held_until: float | None = None
    """Unix time until which the endpoint asked to wait; None if it did not."""
    last_failure: str = ""
