"""What the figures share: their size, and how models, cells and series are named and coloured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from omibench.params.cell import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.stages.analyze.charts.theme import colours, shapes
from omibench.stages.analyze.claims import SIMULATED
from omibench.stages.analyze.tables.accuracy import TOTAL, Score
from omibench.stages.analyze.words import name_rules
from omibench.statistics.intervals import Estimate

WIDTH = 960
"""Pixels of a whole figure, labels included."""
MOST_COLUMNS = 4
"""Of a legend."""
_LETTER, _SYMBOL = 6.4, 34
"""Pixels that a letter of a legend takes on average, and those beside a name."""
MOST_ROWS = 40
"""Rows of one figure; the tables hold all."""


def describe_heads(drawn: int, total: int) -> str:
    """Say which rows a figure draws, and where the others are; nothing where it draws all.

    Args:
        drawn: How many rows it has room for.
        total: How many there are.
    """
    return f"the first {drawn} of {total:,} rows; its table has all" if total > drawn else ""


def embed_data(values: list[dict[str, Any]]) -> alt.InlineData:
    """The rows of a chart, inside the chart."""
    return alt.InlineData(values=values)


def select_totals(rows: Sequence[Score], rules: str) -> list[Score]:
    """The totals of every cell under one rule book."""
    return [s for s in rows if s.subject == TOTAL and s.rules == rules]


def model_name(results: Results, model: str) -> str:
    """'Apex', or 'Apex · SIMULATED' beside models that are not simulated.

    Where all are, the title of the figure says so, and a mark in each row would only cut names.
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
    """'Apex · Direct', with the mark of `model_name`."""
    return f"{model_name(results, cell.model)} · {results.setting_label(cell.setting)}"


def rules_label(results: Results, rules: str) -> str:
    """'robust', 'GPTScore · SIMULATED judge'."""
    judged = rules == JUDGE_RULES and results.judge_simulated
    return name_rules(rules) + (f" · {SIMULATED} judge" if judged else "")


def per_cent(acc: Estimate) -> dict[str, float]:
    """The columns `acc`, `lo` and `hi` of a chart."""
    return {"acc": 100 * acc.mean, "lo": 100 * acc.lo, "hi": 100 * acc.hi}


def make_title(title: str, *subtitle: str, simulated: bool) -> dict[str, Any]:
    """A chart's title, marked, with the lines below it."""
    mark = f"{SIMULATED} · " if simulated else ""
    return {"text": mark + title, "subtitle": list(subtitle)}


def encode_colour(field: str, names: Sequence[str], title: str, room: int = WIDTH) -> alt.Color:
    """A colour a name, in their order; a legend as wide as fits into `room` pixels."""
    scale = alt.Scale(domain=list(names), range=colours(len(names)))
    widest = _SYMBOL + _LETTER * max(map(len, names), default=0)
    columns = max(1, min(MOST_COLUMNS, int(room // widest)))
    return alt.Color(f"{field}:N", scale=scale, title=title, legend=alt.Legend(columns=columns))


def encode_shape(field: str, names: Sequence[str], title: str) -> alt.Shape:
    """A shape a name, in their order."""
    scale = alt.Scale(domain=list(names), range=shapes(len(names)))
    return alt.Shape(f"{field}:N", scale=scale, title=title)
