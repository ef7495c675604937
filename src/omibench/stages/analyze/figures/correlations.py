"""Models on our problems and on other benchmarks."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import altair as alt

from omibench.stages.analyze.charts.marks import embed_data, make_title
from omibench.stages.analyze.charts.theme import INK, SERIES, Chart
from omibench.stages.analyze.figures.figure import figure
from omibench.statistics.correlation import FEWEST, correlate

if TYPE_CHECKING:
    import polars as pl

MOST_PANELS = 8
_PANEL = 380
"""Pixels of a panel, wide and high."""


@figure(
    "correlations",
    "model-scores",
    "Models here and on other benchmarks",
    source="OMIBench, figures 3a and 3d",
)
def draw_correlations(table: pl.DataFrame) -> Chart | None:
    """Draw the first series against those of other metrics and benchmarks, a panel each.

    Args:
        table: The result `model-scores`.

    Returns:
        The chart, of up to eight series; None where no other series shares three models with the
        first.
    """
    kinds = {row[0]: row[1:] for row in table.select("series", "benchmark", "metric").iter_rows()}
    series = {
        name: dict(part.select("model", "estimate").iter_rows())
        for (name,), part in table.partition_by("series", as_dict=True, maintain_order=True).items()
    }
    first, *others = kinds
    # The same metric by another rule book is in the table alone.
    panels = [
        panel
        for name in others
        if kinds[name] != kinds[first]
        and (panel := _describe_panel(series[first], series[name], name))
    ][:MOST_PANELS]
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
                "a point a model; Spearman's correlation with its interval above each panel",
                simulated=simulated,
            ),
        )
    )  # fmt: skip
    return chart


def _describe_panel(
    ours: dict[str, float], others: dict[str, float], name: str
) -> list[dict[str, Any]]:
    models = [model for model in ours if model in others]
    if len(models) < FEWEST:
        return []
    rank = correlate([ours[m] for m in models], [others[m] for m in models], "spearman")
    lo, hi = rank.interval
    interval = "" if isnan(lo) else f" [{lo:.2f}, {hi:.2f}]"
    heading = f"{name}: {rank.value:.2f}{interval}, {rank.n} models"
    return [
        {"model": model, "ours": ours[model], "others": others[model], "panel": heading}
        for model in models
    ]
