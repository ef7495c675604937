"""The range of ranks of each model that paired tests allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.claims import SIMULATED
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import count_open_ranks
from omibench.stages.analyze.figures.marks import (
    MOST_ROWS,
    WIDTH,
    describe_heads,
    embed_data,
    make_title,
)
from omibench.stages.analyze.figures.theme import SERIES, Chart

if TYPE_CHECKING:
    import polars as pl

STEP = 22


@figure("ranks", "ranks", "Ranges of ranks from paired tests", finding=count_open_ranks)
def draw_ranks(table: pl.DataFrame) -> Chart | None:
    """Draw each cell's rank by accuracy, and the range that the tests allow.

    Args:
        table: The result `ranks`.

    Returns:
        The chart, by the first scorer; None for fewer than three cells, for which the table
        suffices.
    """
    ranked = table.filter(rules=table["rules"][0])
    rows = ranked.head(MOST_ROWS).to_dicts()
    if len(rows) < 3:
        return None
    settings = {row["setting"] for row in rows}
    is_mixed = not all(row["simulated"] for row in rows)
    data = [
        {
            "name": " · ".join([
                row["model"],
                *([row["setting"]] if len(settings) > 1 else []),
                *([SIMULATED] if is_mixed and row["simulated"] else []),
            ]),
            "rank": row["estimate"],
            "best": row["low"],
            "worst": row["high"],
        }
        for row in rows
    ]  # fmt: skip
    base = alt.Chart(embed_data(data)).encode(y=alt.Y("name:N", sort=None, title=None))
    scale = alt.Scale(domain=[0.5, rows[0]["cells"] + 0.5], nice=False)
    title = "Rank (1 is the highest accuracy)"
    axis = alt.Axis(tickMinStep=1, format="d")
    ranges = base.mark_rule(strokeWidth=6, opacity=0.4, color=SERIES[0]).encode(
        x=alt.X("best:Q", title=title, scale=scale, axis=axis), x2="worst:Q"
    )
    points = base.mark_point(color=SERIES[0]).encode(
        x=alt.X("rank:Q", title=title, scale=scale, axis=axis)
    )
    under = f" under {settings.pop()}" if len(settings) == 1 else ""
    return alt.layer(ranges, points).properties(
        width=WIDTH,
        height={"step": STEP},
        title=make_title(
            f"Ranks{under}",
            f"by {rows[0]['rules']}; point: rank by accuracy, bar: ranks allowed by Holm's tests "
            "over all "
            f"{rows[0]['family']:,} pairs",
            *filter(None, [describe_heads(MOST_ROWS, ranked.height)]),
            simulated=any(row["simulated"] for row in rows),
        ),
    )
