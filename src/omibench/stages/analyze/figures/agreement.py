"""Krippendorff's alpha of each field of review tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.review.agreement.figures import ALPHA, ALPHA_MASI, ALPHA_ORDINAL
from omibench.stages.analyze.claims import SIMULATED
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.marks import MOST_ROWS, WIDTH, embed_data, make_title
from omibench.stages.analyze.figures.theme import SERIES, Chart

if TYPE_CHECKING:
    import polars as pl

STEP = 22
TITLE = "Agreement of reviewers"


@figure("agreement", "agreement", TITLE, source="OMIBench, A.4.3")
def draw_agreement(table: pl.DataFrame) -> Chart | None:
    """Draw alpha with its interval, one row per kind of task and field.

    Alpha is ordinal for ratings, by MASI for sets of values, and nominal for the others. Options of
    a field are left out, and so are fields with a single value throughout.

    Args:
        table: The result `agreement`.

    Returns:
        The chart; None if no field has an alpha.
    """
    import polars as pl

    rows = table.filter(
        pl.col("metric").is_in([ALPHA, ALPHA_ORDINAL, ALPHA_MASI]),
        pl.col("option") == "",
        pl.col("estimate").is_not_null(),
    ).to_dicts()
    if not rows:
        return None
    is_mixed = len({row["simulated"] for row in rows}) > 1
    data = [
        {
            "name": f"{row['value']}: {row['field']}"
            + (f" · {SIMULATED}" if is_mixed and row["simulated"] else ""),
            "alpha": row["estimate"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in rows[:MOST_ROWS]
    ]
    lowest = min(0.0, *(row["low"] for row in data))
    scale = alt.Scale(domain=[lowest, 1])
    title = "Krippendorff's alpha"
    base = alt.Chart(embed_data(data)).encode(y=alt.Y("name:N", sort=None, title=None))
    lines = base.mark_rule(color=SERIES[0]).encode(
        x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"
    )
    points = base.mark_point(color=SERIES[0], filled=True).encode(
        x=alt.X("alpha:Q", title=title, scale=scale)
    )
    more = f"the first {MOST_ROWS} of {len(rows)} fields; " if len(rows) > MOST_ROWS else ""
    heading = make_title(
        TITLE,
        f"{more}0 is chance, 1 is full agreement; lines are intervals",
        simulated=any(row["simulated"] for row in rows),
    )
    return alt.layer(lines, points).properties(width=WIDTH, height={"step": STEP}, title=heading)
