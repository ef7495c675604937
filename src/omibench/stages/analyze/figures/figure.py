"""The type of a figure: a named function from the tidy table of a result to a chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from omibench.errors import PluginError
from omibench.plugins import Registry

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart

    Draw = Callable[[pl.DataFrame], "Chart | None"]
    Finding = Callable[[pl.DataFrame], "str | None"]
else:
    Draw = Finding = Callable


class FigurePart(NamedTuple):
    """A figure: its name, the result it draws, its title and source."""

    name: str
    """The file name: `results/analyze/figures/<name>.svg` and `.vl.json`."""
    table: str
    """The result whose table it draws."""
    title: str
    source: str
    """Paper and figure; empty for our own figures."""
    draw: Draw
    """The chart; None if the table has too little data for it."""
    finding: Finding | None = None
    """The sentence above the figure on the tests in the table; None if there are none."""


FIGURES: Registry[FigurePart] = Registry("figures", "figure")
"""In display order: built-in figures, then those of plug-ins."""


def figure(
    name: str, table: str, title: str, source: str = "", finding: Finding | None = None
) -> Callable[[Draw], Draw]:
    """Return a decorator that registers a function as a figure.

    Args:
        name: Name: letters, digits, `-` and `_`.
        table: Result to draw; the function gets its table.
        title: Contents in one line.
        source: Paper and figure it follows.
        finding: Function from the table to a sentence on its tests.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: The name is already registered, or the decorated object is not a function.
    """
    FIGURES.check_name(name)

    def register(draw: Draw) -> Draw:
        if not callable(draw):
            raise PluginError(f"figure {name!r}: decorate a function that takes a table")
        part = FigurePart(name, table, title, source, draw, finding)
        FIGURES.add(name, part, module=getattr(draw, "__module__", None))
        return draw

    return register
