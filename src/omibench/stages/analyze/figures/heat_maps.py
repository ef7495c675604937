"""Heat maps of differences: one row per model, one column per setting or picture condition."""

from __future__ import annotations

from typing import Any, Final

import altair as alt
import polars as pl

from omibench.stages.analyze.figures.chart_parts import (
    MOST_ROWS,
    WIDTH,
    describe_heads,
    embed_data,
    finish,
    list_distinct,
)
from omibench.stages.analyze.figures.differences import (
    join_parts,
    mark_model,
    name_baselines,
    scale_row,
    select_differences,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import count_differences
from omibench.stages.analyze.figures.theme import INK, SERIES, Chart
from omibench.stages.analyze.formatting import NO_VALUE, format_points
from omibench.stages.analyze.results.baselines import NOISE, PRESENT

STEP: Final = 26
MOST_SQUARES: Final = 1200
"""The maximum number of squares of a heat map; its table has all."""
SHOWN: Final = ("row", "column", "text", "points", "left", "right", "n", "significant")
"""The values of a square, for display and tooltip."""
NAME_ROOM, LETTER = 280, 7
"""The width of row names, and of a letter, in pixels."""
FALL, RISE = SERIES[0], SERIES[1]
"""Blue for a decrease and orange for an increase, by magnitude (USNCO-V, figure 6)."""
MOST_OPAQUE: Final = 0.75
"""The lightness of the largest difference, so that numbers on it stay readable."""


@figure(
    "drops", "baselines", "Changes of accuracy by setting", source="USNCO-V, figure 6",
    finding=count_differences,
)  # fmt: skip
def draw_drops(table: pl.DataFrame) -> Chart | None:
    """Draw the difference of each setting to its baseline, in points and per cent of the baseline.

    Args:
        table: The result `baselines`.

    Returns:
        The chart; None if fewer than two settings have a baseline.
    """
    differences = select_differences(table, "setting")
    rows = [
        row
        | {
            "column": row["setting"],
            "row": join_parts([mark_model(row, differences), row["value"]]),
            "text": f"{format_points(row['estimate'])} ({_format_relative(row['relative'])})",
        }
        for row in differences
    ]
    if len({row["column"] for row in rows}) < 2:
        return None
    unit = f"points, and per cent of the baseline; {name_baselines(rows)}"
    return _draw(rows, "Difference to the baseline", unit)


@figure(
    "real-clean-noise", "real-clean", "Clean minus real pictures by condition of the photograph",
    source="MathReal, section Real Image vs. Clean Image",
)  # fmt: skip
def draw_conditions(table: pl.DataFrame) -> Chart | None:
    """Draw the gain of clean pictures by condition of the photograph.

    Args:
        table: The result `real-clean`.

    Returns:
        The chart; None if no condition is known.
    """
    conditions = table.filter(
        pl.col("slice").str.starts_with(f"{NOISE}: "), pl.col("value") == PRESENT
    )
    if conditions.is_empty():
        return None
    first = conditions.filter(
        rules=conditions["rules"][0], measure=conditions["measure"][0]
    ).to_dicts()
    rows = [
        scale_row(row)
        | {
            "column": row["slice"].removeprefix(f"{NOISE}: "),
            "row": f"{mark_model(row, first)} · {row['setting']}",
            "text": f"{format_points(row['estimate'])} (n = {row['n']})",
        }
        for row in first
    ]
    return _draw(rows, "Clean minus real pictures if a condition is present", "points")


def _draw(rows: list[dict[str, Any]], title: str, unit: str) -> Chart:
    names = list_distinct(rows, "row")
    columns = {row["column"] for row in rows}
    most = max(MOST_ROWS, MOST_SQUARES // len(columns))
    selection = describe_heads(most, len(names))
    kept = set(names[:most])
    rows = [row for row in rows if row["row"] in kept]
    largest = max(abs(row["points"]) for row in rows) or 1.0
    data = [
        {name: row[name] for name in SHOWN if name in row}
        | {"strength": MOST_OPAQUE * abs(row["points"]) / largest}
        for row in rows
    ]
    # Rotate names that do not fit side by side.
    room = (WIDTH - NAME_ROOM) / len(columns)
    angle = 0 if LETTER * max(map(len, columns)) < room else -30
    base = alt.Chart(embed_data(data)).encode(
        x=alt.X("column:N", sort=None, title=None, axis=alt.Axis(labelAngle=angle, orient="top")),
        y=alt.Y("row:N", sort=None, title=None),
    )
    squares = base.mark_rect().encode(
        color=alt.condition("datum.points < 0", alt.value(FALL), alt.value(RISE)),
        opacity=alt.Opacity("strength:Q", scale=None, legend=None),
    )
    text = base.mark_text(color=INK).encode(text="text:N")
    measure = (
        f"{rows[0]['measure']} by {rows[0]['rules']}, {unit}; blue: decrease, orange: increase"
    )
    simulated = any(row["simulated"] for row in rows)
    chart = alt.layer(squares, text)
    return finish(chart, title, measure, selection, height={"step": STEP}, simulated=simulated)


def _format_relative(share: float | None) -> str:
    if share is None:
        return NO_VALUE
    return f"{format_points(share, 0)} %"
