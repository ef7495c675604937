"""What a result is: a function from the results of a study to a tidy table, under a name."""

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
    """A result: its name, title and source, and the function that tabulates it."""

    name: str
    """The file of its table: `results/analyze/tables/<name>.csv` and `.parquet`."""
    title: str
    """What the table shows, in one line."""
    source: str
    """Paper and section or table; empty for what is our own."""
    tabulate: Tabulate
    """The table, with columns of `tidy.COLUMNS` and more; None where a study has nothing for it."""


RESULTS: Registry[ResultPart] = Registry("results", "result")
"""In the order in which they are written: the built-in ones, then those of plug-ins."""


def result(name: str, title: str, source: str = "") -> Callable[[Tabulate], Tabulate]:
    """A decorator that registers a function as a result.

    Args:
        name: Its name: letters, digits, `-` and `_`.
        title: What its table shows, in one line.
        source: Paper and section or table that define it.

    Returns:
        A decorator that returns the function as it is.

    Raises:
        PluginError: Another file or package has registered this name, or what is decorated is no
            function.
    """
    RESULTS.check_name(name)

    def register(tabulate: Tabulate) -> Tabulate:
        if not callable(tabulate):
            raise PluginError(f"result {name!r}: decorate a function that takes an Analysis")
        part = ResultPart(name, title, source, tabulate)
        RESULTS.add(name, part, module=getattr(tabulate, "__module__", None))
        return tabulate

    return register
