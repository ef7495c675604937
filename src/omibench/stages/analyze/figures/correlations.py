"""Scores of models on our problems and on other benchmarks."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import altair as alt

from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.marks import embed_data, make_title
from omibench.stages.analyze.figures.series_pairs import (
    SeriesPair,
    count_correlations,
    pair_series,
)
from omibench.stages.analyze.figures.theme import INK, SERIES, Chart

if TYPE_CHECKING:
    import polars as pl

MOST_PANELS = 8
_PANEL = 380
"""The width and height of a panel, in pixels."""


@figure(
    "correlations",
    "model-scores",
    "Models here and on other benchmarks",
    source="OMIBench, figures 3a and 3d",
    finding=count_correlations,
)
def draw_correlations(table: pl.DataFrame) -> Chart | None:
    """Draw the first series against those of other metrics and benchmarks, one panel each.

    Args:
        table: The result `model-scores`.

    Returns:
        The chart, of up to eight series; None if no other series shares three models with the
        first.
    """
    first, pairs = pair_series(table)
    panels = [_describe_panel(pair) for pair in pairs[:MOST_PANELS]]
    data = [point for panel in panels for point in panel]
    if not data:
        return None
    base = alt.Chart(embed_data(data)).encode(
        x=alt.X("ours:Q", title=first, scale=alt.Scale(zero=False)),
        y=alt.Y("others:Q", title=None, scale=alt.Scale(zero=False)),
    )
    points = base.mark_point(color=SERIES[0])
    labels = base.mark_text(align="left", dx=8, fontSize=10, color=INK).encode(text="model:N")
    simulated = bool(table["simulated"].any())
    chart: alt.FacetChart = (
        alt.layer(points, labels)
        .properties(width=_PANEL, height=_PANEL)
        .facet(
            facet=alt.Facet("panel:N", title=None, sort=[panel[0]["panel"] for panel in panels],
                            header=alt.Header(labelColor=INK, labelFontSize=12)),
            columns=2,
        )
        .resolve_scale(x="independent", y="independent")
        .properties(
            autosize=alt.AutoSizeParams(type="pad"),
            title=make_title(
                "Models here and on other benchmarks",
                "one point per model; Spearman's correlation with its interval above each panel",
                simulated=simulated,
            ),
        )
    )  # fmt: skip
    return chart


def _describe_panel(pair: SeriesPair) -> list[dict[str, Any]]:
    lo, hi = pair.rank.interval
    interval = "" if isnan(lo) else f" [{lo:.2f}, {hi:.2f}]"
    heading = f"{pair.name}: {pair.rank.value:.2f}{interval}, {pair.rank.n} models"
    return [
        {"model": model, "ours": ours, "others": others, "panel": heading}
        for model, ours, others in zip(pair.models, pair.ours, pair.others, strict=True)
    ]
