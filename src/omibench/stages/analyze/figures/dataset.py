"""The contents of the dataset: problems by kind, and lengths of questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.marks import embed_data
from omibench.stages.analyze.figures.theme import INK, MUTED, SERIES, Chart

if TYPE_CHECKING:
    import polars as pl

WIDTH, ROW_HEIGHT = 520, 20
MOST_BARS = 60
SIMULATED = "SIMULATED: the problems are synthetic"


@figure(
    "dataset-composition",
    table="dataset",
    title="Problems of the dataset by kind",
    source="OMIBench, figure 2; EMMA, figure 3; USNCO-V, figure 1",
)
def draw_composition(table: pl.DataFrame) -> Chart | None:
    """Draw one bar per value of an attribute: the number of problems."""
    rows = table.filter((table["metric"] == "problems") & (table["slice"] != "")).head(MOST_BARS)
    if rows.is_empty():
        return None
    data = [
        {"name": f"{row['slice']}: {row['value']}", "kind": row["slice"], "problems": row["n"]}
        for row in rows.iter_rows(named=True)
    ]
    y = alt.Y("name:N", sort=None, title=None)
    base = alt.Chart(embed_data(data)).encode(y=y, x=alt.X("problems:Q", title="Problems"))
    return alt.layer(
        base.mark_bar(color=SERIES[0], height=12),
        base.mark_text(align="left", dx=4, color=INK).encode(text="problems:Q"),
    ).properties(width=WIDTH, height=ROW_HEIGHT * len(data), title=_title(table))


@figure(
    "question-lengths",
    table="question-lengths",
    title="Lengths of questions",
    source="MathReal, figure 10",
)
def draw_lengths(table: pl.DataFrame) -> Chart | None:
    """Draw one bar per bin of lengths, in characters."""
    data = [
        {"from": row["least"], "to": row["most"] + 1, "questions": row["n"]}
        for row in table.iter_rows(named=True)
    ]
    chart: alt.Chart = (
        alt.Chart(embed_data(data))
        .mark_bar(color=SERIES[0], stroke=MUTED)
        .encode(
            x=alt.X("from:Q", bin="binned", title="Characters of the question"),
            x2="to:Q",
            y=alt.Y("questions:Q", title="Questions"),
        )
        .properties(width=WIDTH, height=220, title=_title(table))
    )
    return chart


def _title(table: pl.DataFrame) -> alt.TitleParams:
    return alt.TitleParams(SIMULATED if table["simulated"].any() else "", fontSize=12)
