"""Sources of disagreement of judge and scorer, as labelled by annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.marks import WIDTH, embed_data, encode_colour, make_title
from omibench.stages.analyze.figures.theme import Chart
from omibench.stages.analyze.words import name_outcome

if TYPE_CHECKING:
    import polars as pl

STEP = 26
ALL_MODELS = "all models"
WAYS = {"": "judge or rules alone right", "judge_only": "judge alone right",
        "rules_only": "rules alone right"}  # fmt: skip


@figure(
    "disagreements",
    "disagreements",
    "Sources of disagreement of judge and scorer",
    source="OMIBench, figure 16",
)
def draw_disagreements(table: pl.DataFrame) -> Chart | None:
    """Draw the sources of disagreement of each model, if any are labelled.

    Args:
        table: The result `disagreements`.
    """
    rows = table.filter(slice="source").rows(named=True)
    if not rows:
        return None
    values = list(dict.fromkeys(row["value"] for row in rows))
    data = [
        {
            "row": f"{row['model'] or ALL_MODELS} · {WAYS[row['disagreement']]} (n = {row['n']})",
            "source": name_outcome(row["value"]),
            "order": values.index(row["value"]),
            "share": 100 * row["estimate"],
        }
        for row in rows
    ]
    names = list(dict.fromkeys(row["row"] for row in data))
    bars = (
        alt.Chart(embed_data(data))
        .mark_bar(height=14)
        .encode(
            y=alt.Y("row:N", title=None, sort=names, scale=alt.Scale(domain=names)),
            x=alt.X("share:Q", stack="zero", title="Labelled disagreements, %"),
            order=alt.Order("order:Q"),
            color=encode_colour("source", [name_outcome(value) for value in values], "Source"),
        )
    )
    heading = make_title(
        "Sources of disagreement of judge and scorer",
        f"the scorer is {rows[0]['rules']}",
        simulated=bool(table["simulated"].any()),
    )
    return alt.layer(bars).properties(width=WIDTH, height=STEP * len(names), title=heading)
