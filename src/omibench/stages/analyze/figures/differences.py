"""Figures of differences to baselines: dumbbells of both accuracies, and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from omibench.stages.analyze.figures.difference_rows import (
    join_names,
    keep_largest,
    mark_model,
    name_baselines,
    scale_row,
    select_differences,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import count_differences
from omibench.stages.analyze.figures.marks import WIDTH, embed_data, encode_colour, make_title
from omibench.stages.analyze.figures.theme import INK, Chart

if TYPE_CHECKING:
    import polars as pl

STEP = 22
NAMES = alt.Axis(labelLimit=420)
PALE = 0.4
"""The opacity of a difference that is not significant."""
_PALE_NOTE = "pale: not significant by Holm over this family"


@figure(
    "dumbbell", "baselines", "Accuracy with and without a setting's change",
    source="USNCO-V, figure 3", finding=count_differences,
)  # fmt: skip
def draw_dumbbell(table: pl.DataFrame) -> Chart | None:
    """Draw the baseline's accuracy as a cross and the setting's as a circle, joined by a line.

    Args:
        table: The result `baselines`.

    Returns:
        The chart; None if no setting has a baseline.
    """
    rows, selection = keep_largest(select_differences(table, "setting"))
    if not rows:
        return None
    base = alt.Chart(embed_data(rows)).encode(y=alt.Y("name:N", sort=None, title=None, axis=NAMES))
    parts = list(dict.fromkeys(row["part"] for row in rows))
    colour = encode_colour("part", parts, rows[0]["slice"])
    scale = alt.Scale(domain=[0, 100])
    lines = base.mark_rule(strokeWidth=2, opacity=0.55).encode(
        x=alt.X("base:Q", title="Accuracy, %", scale=scale), x2="acc:Q", color=colour
    )
    # A rotated cross is the x of the figure that this one follows.
    starts = base.mark_point(shape="cross", angle=45).encode(
        x=alt.X("base:Q", scale=scale), color=colour
    )
    ends = base.mark_point(shape="circle").encode(x=alt.X("acc:Q", scale=scale), color=colour)
    note = "cross: baseline, circle: setting; over the same problems"
    return _finish(alt.layer(lines, starts, ends), rows, _name_pairs(rows), note, selection)


def _name_pairs(rows: list[dict[str, Any]]) -> str:
    """Return the title of a dumbbell: the pair if it is the only one."""
    pairs = {row["pair"] for row in rows}
    return f"Accuracy: {pairs.pop()}" if len(pairs) == 1 else "Accuracy of settings and baselines"


@figure(
    "deltas", "baselines", "Differences to baselines",
    source="EMMA, figure 7; OMIBench, figures 3c, 4 and 6", finding=count_differences,
)  # fmt: skip
def draw_deltas(table: pl.DataFrame) -> Chart | None:
    """Draw each difference to a setting's baseline, or to a model's if no setting has one.

    Args:
        table: The result `baselines`.

    Returns:
        The chart; None without differences.
    """
    rows = select_differences(table, "setting") or select_differences(table, "model")
    return _draw_points(rows, "Difference to the baseline, points", "Differences to baselines")


@figure(
    "real-clean", "real-clean", "Clean minus real pictures of the same problems",
    source="MathReal, table 8", finding=count_differences,
)  # fmt: skip
def draw_pictures(table: pl.DataFrame) -> Chart | None:
    """Draw each cell's accuracy on clean pictures minus that on real ones, loose and strict.

    Args:
        table: The result `real-clean`.

    Returns:
        The chart; None without differences.
    """
    import polars as pl

    whole = table.filter(pl.col("slice") == "", pl.col("rules") == table["rules"][0])
    measures = whole["measure"].n_unique()
    differences = whole.sort("model", "setting", maintain_order=True).to_dicts()
    rows = [
        scale_row(row)
        | {
            "part": row["measure"],
            "name": join_names(
                [
                    mark_model(row, differences),
                    row["setting"],
                    row["measure"] if measures > 1 else "",
                ]
            ),
        }
        for row in differences
    ]
    return _draw_points(rows, "Clean minus real, points", "Clean and real pictures")


def _draw_points(rows: list[dict[str, Any]], axis: str, title: str) -> Chart | None:
    rows, selection = keep_largest(rows)
    if not rows:
        return None
    parts = list(dict.fromkeys(row["part"] for row in rows))
    base = alt.Chart(embed_data(rows)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=NAMES),
        color=encode_colour("part", parts, rows[0]["slice"]),
        opacity=alt.condition("datum.significant", alt.value(1), alt.value(PALE)),
    )
    x = alt.X("points:Q", title=axis)
    zero = alt.Chart(embed_data([{"zero": 0}])).mark_rule(color=INK).encode(x="zero:Q")
    whiskers = base.mark_rule(strokeWidth=2.5).encode(x=alt.X("left:Q", title=axis), x2="right:Q")
    points = base.mark_point().encode(x=x)
    return _finish(alt.layer(zero, whiskers, points), rows, title, _PALE_NOTE, selection)


def _finish(chart: Chart, rows: list[dict[str, Any]], title: str, *notes: str) -> Chart:
    measures = " and ".join(dict.fromkeys(row["measure"] for row in rows))
    measure = f"{measures} by {rows[0]['rules']}, {name_baselines(rows)}"
    return chart.properties(
        width=WIDTH,
        height={"step": STEP},
        title=make_title(
            title, measure, *filter(None, notes), simulated=any(row["simulated"] for row in rows)
        ),
    )
