"""The size of figures, and the names and colours of models, cells and series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from omibench.params.cell import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.charts.theme import colours, shapes
from omibench.stages.analyze.claims import SIMULATED, Row
from omibench.stages.analyze.results.accuracy import TOTAL
from omibench.stages.analyze.words import name_rules

WIDTH = 960
"""The size of a whole figure with labels, in pixels."""
MOST_COLUMNS = 4
"""Of a legend."""
_LETTER, _SYMBOL = 6.4, 34
"""The average width of a letter in a legend, and of the space next to a name, in pixels."""
MOST_ROWS = 40
"""The maximum number of rows of a figure; the tables contain all."""


def describe_heads(drawn: int, total: int) -> str:
    """Describe which rows a figure draws; empty if it draws all.

    Args:
        drawn: Number of rows that fit.
        total: Number of all rows.
    """
    return f"the first {drawn} of {total:,} rows; its table has all" if total > drawn else ""


def embed_data(values: list[dict[str, Any]]) -> alt.InlineData:
    """Return the rows of a chart, inside the chart."""
    return alt.InlineData(values=values)


def select_totals(analysis: Analysis, rules: str) -> list[Row]:
    """Return the totals of every cell under one scorer."""
    return analysis.scores.filter(subject=TOTAL, rules=rules).to_dicts()


def model_name(results: Results, model: str) -> str:
    """Return a model's name: 'Apex', or 'Apex · SIMULATED' if other models are not simulated.

    If all are simulated, the title of the figure is marked instead.
    """
    marks = results.simulated_cells
    is_simulated = any(mark for cell, mark in marks.items() if cell.model == model)
    is_mixed = not all(marks.values())
    return (
        f"{results.label(model)} · {SIMULATED}"
        if is_simulated and is_mixed
        else results.label(model)
    )


def row_name(results: Results, cell: Cell) -> str:
    """Return a cell's name such as 'Apex · Direct', with the mark of `model_name`."""
    return f"{model_name(results, cell.model)} · {results.setting_label(cell.setting)}"


def rules_label(results: Results, rules: str) -> str:
    """Return a scorer's name: 'robust', 'GPTScore · SIMULATED judge'."""
    judged = rules == JUDGE_RULES and results.judge_simulated
    return name_rules(rules) + (f" · {SIMULATED} judge" if judged else "")


def per_cent(row: Row) -> dict[str, float]:
    """Return the columns `acc`, `lo` and `hi` of a chart."""
    return {"acc": 100 * row["estimate"], "lo": 100 * row["low"], "hi": 100 * row["high"]}


def make_title(title: str, *subtitle: str, simulated: bool) -> dict[str, Any]:
    """Return a chart's title with its mark and the lines below it."""
    mark = f"{SIMULATED} · " if simulated else ""
    return {"text": mark + title, "subtitle": list(subtitle)}


def encode_colour(field: str, names: Sequence[str], title: str, room: int = WIDTH) -> alt.Color:
    """Assign a colour to each name, in order; the legend wraps at `room` pixels."""
    scale = alt.Scale(domain=list(names), range=colours(len(names)))
    widest = _SYMBOL + _LETTER * max(map(len, names), default=0)
    columns = max(1, min(MOST_COLUMNS, int(room // widest)))
    return alt.Color(f"{field}:N", scale=scale, title=title, legend=alt.Legend(columns=columns))


def encode_shape(field: str, names: Sequence[str], title: str) -> alt.Shape:
    """Assign a shape to each name, in order."""
    scale = alt.Scale(domain=list(names), range=shapes(len(names)))
    return alt.Shape(f"{field}:N", scale=scale, title=title)
