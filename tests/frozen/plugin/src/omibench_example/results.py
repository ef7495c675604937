"""The result `hardest-items` and its figure."""

from __future__ import annotations

import altair as alt
import polars as pl

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.results.result import result

MOST_ITEMS = 20


@result("hardest-items", title="Items with the lowest share of right cells")
def tabulate_hardest(analysis: Analysis) -> pl.DataFrame | None:
    """Return one row per item: the share of right cells under the study's main scorer."""
    rules = analysis.results.main_rules
    return (
        analysis.item_values.filter(rules=rules)
        .group_by("id", maintain_order=True)
        .agg(pl.mean("verdict").alias("estimate"), pl.len().alias("n"))
        .sort("estimate", "id")
        .head(MOST_ITEMS)
        .select(
            pl.lit("item").alias("slice"),
            pl.col("id").alias("value"),
            pl.lit("share of cells").alias("metric"),
            "estimate",
            "n",
            pl.lit(rules).alias("rules"),
            pl.lit(analysis.results.rests_on_simulation(rules)).alias("simulated"),
        )
    )


@figure("hardest-items-bars", table="hardest-items", title="The hardest items")
def draw_hardest(table: pl.DataFrame) -> alt.Chart:
    """Draw one bar per item."""
    return (
        alt.Chart(alt.Data(values=table.select("value", "estimate").to_dicts()))
        .mark_bar(color="#0072b2")
        .encode(x=alt.X("estimate:Q", title="Share of cells"), y=alt.Y("value:N", title="Item"))
    )
