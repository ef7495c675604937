"""What a figure is: a function from the tidy table of a result to a chart, under a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from omibench.errors import PluginError
from omibench.plugins import Registry

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.charts.theme import Chart

    Draw = Callable[[pl.DataFrame], "Chart | None"]
    Finding = Callable[[pl.DataFrame], "str | None"]
else:
    Draw = Finding = Callable


class FigurePart(NamedTuple):
    """A figure: its name, the result whose table it shows, its title, its source."""

    name: str
    """The file: `results/analyze/figures/<name>.svg` and `.vl.json`."""
    table: str
    """The result that it is drawn from."""
    title: str
    source: str
    """Paper and figure; empty for what is our own."""
    draw: Draw
    """The chart; None where the table holds too little for it."""
    finding: Finding | None = None
    """What the tests in the table say, in a sentence that stands above the figure; None where they
    say nothing."""


FIGURES: Registry[FigurePart] = Registry("figures", "figure")
"""In the order in which they are shown: the built-in ones, then those of plug-ins."""


def figure(
    name: str, table: str, title: str, source: str = "", finding: Finding | None = None
) -> Callable[[Draw], Draw]:
    """A decorator that registers a function as a figure.

    Args:
        name: Its name: letters, digits, `-` and `_`.
        table: The result that it is drawn from; the function gets its table alone.
        title: What it shows, in one line.
        source: Paper and figure that it follows.
        finding: What the tests in the table say, in a sentence; it gets the table alone.

    Returns:
        A decorator that returns the function as it is.

    Raises:
        PluginError: Another file or package has registered this name, or what is decorated is no
            function.
    """
    FIGURES.check_name(name)

    def register(draw: Draw) -> Draw:
        if not callable(draw):
            raise PluginError(f"figure {name!r}: decorate a function that takes a table")
        part = FigurePart(name, table, title, source, draw, finding)
        FIGURES.add(name, part, module=getattr(draw, "__module__", None))
        return draw

    return register
