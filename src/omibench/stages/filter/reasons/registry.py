"""Registry of the filter's reasons, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from omibench.plugins import Registry
from omibench.stages.filter.candidate import Case

Reason = Callable[[Case], str | None]
"""Checks one problem; returns its evidence (the measured value, with the threshold) or None."""

REASONS: Final[Registry[Reason]] = Registry("reasons", "reason of the filter")


def reason(name: str) -> Callable[[Reason], Reason]:
    """Return a decorator that registers a function as the reason `name`.

    The function is pure: it takes one problem and returns its evidence, or None if there is nothing
    against the problem.

    Args:
        name: The name in rejects.parquet, `filter.reasons` and `filter.omitted_reasons`.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: Another reason has this name.
    """
    return REASONS.register(name)
