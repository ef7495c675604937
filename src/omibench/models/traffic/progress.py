"""Counters of a run, for a progress bar to read while it goes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Progress:
    """What has happened to the requests of one run. Written by the run alone."""

    total: int = 0
    finished: int = 0
    """Responses of any outcome; `failed` of them without an answer from the provider."""
    failed: int = 0
    attempts: int = 0
    """Calls sent, of which `retried` were not the first of their request."""
    retried: int = 0
    in_flight: int = 0
    limit: int = 0
    """Calls that may be in flight now."""
    cost_usd: float = 0.0
    held_until: float | None = None
    """Unix time until which the endpoint asked to be left alone; None when it did not."""
    last_failure: str = ""
