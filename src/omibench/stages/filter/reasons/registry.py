"""The reasons for which the filter rejects a problem, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from omibench.plugins import Registry
from omibench.stages.filter.candidate import Case

Reason = Callable[[Case], str | None]
"""Looks at one problem: its evidence (what was measured, beside the threshold), or None."""

REASONS: Final[Registry[Reason]] = Registry("reasons", "reason of the filter")


def reason(name: str) -> Callable[[Reason], Reason]:
    """A decorator that makes a function the reason `name`.

    The function is pure: one problem in, its evidence out, or None where there is nothing against
    the problem.

    Args:
        name: What rejects.parquet calls it, and by what `filter.reasons` and
            `filter.omitted_reasons` name it.

    Returns:
        A decorator that returns the function as it is.

    Raises:
        PluginError: Another reason has this name.
    """
    return REASONS.register(name)
