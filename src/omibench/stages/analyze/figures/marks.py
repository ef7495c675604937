"""The size of figures, their titles, and the colours and shapes of series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from omibench.stages.analyze.claims import SIMULATED
from omibench.stages.analyze.figures.theme import colours, shapes

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
