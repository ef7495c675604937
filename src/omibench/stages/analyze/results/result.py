"""The type of a result: a named function from the results of a study to a tidy table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from omibench.errors import PluginError
from omibench.plugins import Registry

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

    Tabulate = Callable[[Analysis], "pl.DataFrame | None"]
else:
    Tabulate = Callable


class ResultPart(NamedTuple):
    """A result: its name, title, source and the function that tabulates it."""

    name: str
    """The file name of its table: `results/analyze/tables/<name>.csv` and `.parquet`."""
    title: str
    """The contents of the table, in one line."""
    source: str
    """Paper and section or table; empty for our own results."""
    tabulate: Tabulate
    """The table, with columns of `tidy.COLUMNS` and more; None if a study has no data for it."""


RESULTS: Registry[ResultPart] = Registry("results", "result")
"""In order of writing: built-in results, then those of plug-ins."""


def result(name: str, title: str, source: str = "") -> Callable[[Tabulate], Tabulate]:
    """Return a decorator that registers a function as a result.

    Args:
        name: Name: letters, digits, `-` and `_`.
        title: Contents of the table, in one line.
        source: Paper and section or table that define it.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: The name is already registered, or the decorated object is not a function.
    """
    RESULTS.check_name(name)

    def register(tabulate: Tabulate) -> Tabulate:
        if not callable(tabulate):
            raise PluginError(f"result {name!r}: decorate a function that takes an Analysis")
        part = ResultPart(name, title, source, tabulate)
        RESULTS.add(name, part, module=getattr(tabulate, "__module__", None))
        return tabulate

    return register
