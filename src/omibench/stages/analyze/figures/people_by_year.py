"""Models and the estimated scores of participants, by year."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.interval_findings import count_estimated_people
from omibench.stages.analyze.figures.marks import (
    embed_data,
    encode_colour,
    encode_shape,
    make_title,
)
from omibench.stages.analyze.figures.theme import INK, Chart
from omibench.stages.analyze.results.people_estimates import ESTIMATED, MODEL

if TYPE_CHECKING:
    import polars as pl

MOST_MODELS = 8
_PANEL = 420
"""The width of a panel, in pixels."""


@figure(
    "people-by-year",
    "people-estimates",
    "Models and estimated scores of participants, by year",
    source="USNCO-V, figure 5",
    finding=count_estimated_people,
)
def draw_people_by_year(table: pl.DataFrame) -> Chart | None:
    """Draw the accuracy of models by year, with a bar at the estimated score of participants.

    Models are scored by the first scorer, each under its first setting; of many models, the best
    eight are drawn.

    Args:
        table: The result `people-estimates`.

    Returns:
        The chart, with one panel per exam; None if no model has scores for these exams.
    """
    import polars as pl

    models = table.filter(pl.col("kind") == MODEL, pl.col("metric") == "accuracy")
    if models.is_empty():
        return None
    models = models.filter(pl.col("rules") == models["rules"][0])
    settings = models.group_by("model", maintain_order=True).agg(pl.col("setting").first())
    models = models.join(settings, on=["model", "setting"], maintain_order="left")
    best = (
        models.group_by("model", maintain_order=True)
        .agg(pl.col("estimate").mean())
        .sort("estimate", descending=True, maintain_order=True)["model"]
        .head(MOST_MODELS)
        .to_list()
    )
    best_rows = models.filter(pl.col("model").is_in(best))
    people = table.filter(pl.col("kind") == ESTIMATED)
    rows = pl.concat([best_rows, people]).with_columns(
        pl.col("estimate", "low", "high") * 100, pl.col("year").cast(pl.String)
    )
    data = rows.select("exam", "year", "kind", "model", "estimate", "low", "high").to_dicts()
    base = alt.Chart(embed_data(data)).encode(x=alt.X("year:O", title="Year"))
    accuracy = alt.Y("estimate:Q", title="Accuracy, %", scale=alt.Scale(domain=[0, 100]))
    is_model = f"datum.kind === '{MODEL}'"
    marks = (
        base.transform_filter(is_model)
        .mark_line(point=True)
        .encode(
            y=accuracy,
            color=encode_colour("model", best, "Model"),
            shape=encode_shape("model", best, "Model"),
        )
    )
    bars = (
        base.transform_filter(f"!({is_model})")
        .mark_tick(color=INK, thickness=4, size=30, opacity=1)
        .encode(y=accuracy)
    )
    chart: alt.FacetChart = (
        alt.layer(bars, marks)
        .properties(width=_PANEL, height=260)
        .facet(facet=alt.Facet("exam:N", title=None, header=alt.Header(labelColor=INK)), columns=2)
        .resolve_scale(x="independent")
        .properties(
            autosize=alt.AutoSizeParams(type="pad"),
            title=make_title(
                "Models and estimated scores of participants, by year",
                "black bars: participants, estimated from cut-offs of the whole exam",
                simulated=bool(rows["simulated"].any()),
            ),
        )
    )
    return chart
