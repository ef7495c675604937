"""The type of a figure: a named function from the tidy table of a result to a chart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from omibench.errors import PluginError
from omibench.plugins import Registry

if TYPE_CHECKING:
    from omibench.params.setting import Cell
    from omibench.stages.analyze.analysis import Analysis
    from omibench.stages.analyze.figures.theme import Chart

    Draw = Callable[[pl.DataFrame], "Chart | None"]
    Finding = Callable[[pl.DataFrame], "str | None"]


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


# Draw the figures of a study's results as SVG and Vega-Lite.

MODEL_COLUMNS: Final = ("model", "baseline_model")
"""The columns with models; also `baseline` if `kind` is `model`."""
SETTING_COLUMNS: Final = ("setting", "baseline_setting", "beside")
"""The columns with settings; also `baseline` unless `kind` differs."""


class FigureDrawing(NamedTuple):
    """A figure of a study: SVG text in light colours, Vega-Lite, and its finding, if any."""

    figure: FigurePart
    svg: str
    specification: Mapping[str, Any]
    finding: str = ""

    @property
    def description(self) -> str:
        """The title, source and finding."""
        title, source = self.figure.title, self.figure.source
        words = f"{title} ({source})." if source else f"{title}."
        return f"{words} {self.finding}".strip()


def dump_specification(specification: Mapping[str, Any], description: str) -> str:
    """Return Vega-Lite as the text of a separate file.

    Args:
        specification: Specification of the figure.
        description: Text alternative of the figure.
    """
    described = {**specification, "description": description}
    return json.dumps(described, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def draw_figures(analysis: Analysis) -> list[FigureDrawing]:
    """Draw every registered figure with a table in the study, with labels in place of names.

    Args:
        analysis: The study's results.

    Returns:
        The drawings, in the order of the registry.
    """
    from omibench.stages.analyze.figures.theme import describe_chart, render_specification
    from omibench.stages.analyze.findings import best, find_cell

    labels, drawings = analysis.labels, []
    top = best(analysis)
    leader = None if top is None else find_cell(top)
    for name in FIGURES:
        with analysis.leave_out_failing(FIGURES, name):
            figure = FIGURES.get(name)
            table = analysis.table(figure.table)
            named = None if table is None else label_cells(mark_leader(table, leader), *labels)
            chart = None if named is None else figure.draw(named)
            if named is None or chart is None:
                continue
            finding = figure.finding(named) if figure.finding else None
            specification = describe_chart(chart)
            svg = render_specification(specification)
            drawings.append(FigureDrawing(figure, svg, specification, finding or ""))
    return drawings


def mark_leader(table: pl.DataFrame, leader: Cell | None) -> pl.DataFrame:
    """Add the column `leads` to a table of cells: whether a row is of the headline's leader."""
    from omibench.stages.analyze.figures.charts import LEADS

    if leader is None or not {"model", "setting"} <= {*table.columns}:
        return table
    own = pl.col("model").eq(leader.model) & pl.col("setting").eq(leader.setting)
    return table.with_columns(own.alias(LEADS))


def label_cells(
    table: pl.DataFrame, models: Mapping[str, str], settings: Mapping[str, str]
) -> pl.DataFrame:
    """Replace names of models and settings in a table by their labels.

    Args:
        table: The tidy table of a result.
        models: Labels of models by name.
        settings: Labels of settings by name.

    Returns:
        The table with labels. If several models or settings share a label, the name follows it.
        Unknown names stay unchanged.
    """
    model_names, setting_names = tell_apart(models), tell_apart(settings)
    named = table.with_columns(
        *(pl.col(c).replace(model_names) for c in MODEL_COLUMNS if c in table.columns),
        *(pl.col(c).replace(setting_names) for c in SETTING_COLUMNS if c in table.columns),
    )
    if "baseline" not in table.columns or "setting" not in table.columns:
        return named
    baseline = pl.col("baseline")
    kind = pl.col("kind") if "kind" in table.columns else pl.lit("setting")
    return named.with_columns(
        baseline=pl.when(kind == "model")
        .then(baseline.replace(model_names))
        .when(kind == "setting")
        .then(baseline.replace(setting_names))
        .otherwise(baseline)
    )


def tell_apart(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels, each followed by its name if several names share it.

    Args:
        labels: Labels by name.
    """
    counts = Counter(labels.values())
    return {
        name: label if counts[label] == 1 else f"{label} ({name})" for name, label in labels.items()
    }
