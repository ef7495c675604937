"""People and models on the same problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from omibench.stages.analyze.claims import SIMULATED
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.interval_findings import count_people_differences
from omibench.stages.analyze.figures.marks import (
    MOST_ROWS,
    WIDTH,
    embed_data,
    encode_colour,
    encode_shape,
    make_title,
)
from omibench.stages.analyze.figures.theme import Chart
from omibench.stages.analyze.people.estimates import EVERYBODY, GROUP, MODEL, PERSON

if TYPE_CHECKING:
    import polars as pl

_NAMES = {
    PERSON: "Person (interval: problems)",
    GROUP: "Group (people and problems)",
    EVERYBODY: "Everybody (people and problems)",
    MODEL: "Model (problems)",
}


@figure(
    "people",
    "people",
    "People and models on the same problems",
    source="OMIBench, appendix K",
    finding=count_people_differences,
)
def draw_people(table: pl.DataFrame) -> Chart | None:
    """Draw the accuracy of persons, groups and models, best first within each kind.

    People and models are scored by the first scorer for people; each model appears under its first
    setting. If there are too many models, the best are drawn.

    Args:
        table: The result `people`.

    Returns:
        The chart; None without answers of people.
    """
    import polars as pl

    accuracies = table.filter(pl.col("metric") == "accuracy", pl.col("slice") == "")
    people = accuracies.filter(pl.col("kind") != MODEL)
    if people.is_empty():
        return None
    rules = people["rules"][0]
    settings = (
        accuracies.filter(rules=rules, kind=MODEL).group_by("model").agg(pl.col("setting").first())
    )
    models = accuracies.filter(rules=rules, kind=MODEL).join(settings, on=["model", "setting"])
    rows = [
        row
        for kind, part in ((kind, people.filter(rules=rules, kind=kind)) for kind in _NAMES)
        for row in (models if kind == MODEL else part)
        .sort("estimate", descending=True, maintain_order=True)
        .head(MOST_ROWS)
        .to_dicts()
    ]
    is_mixed = not all(row["simulated"] for row in rows)
    data = [_describe_row(row, is_mixed) for row in rows]
    kinds = [name for name in _NAMES.values() if any(row["kind"] == name for row in data)]
    base = alt.Chart(embed_data(data)).encode(
        y=alt.Y("name:N", sort=None, title=None), color=encode_colour("kind", kinds, "")
    )
    points = base.mark_point().encode(
        x=alt.X("acc:Q", title="Accuracy, %", scale=alt.Scale(domain=[0, 100])),
        shape=encode_shape("kind", kinds, ""),
    )
    whiskers = base.mark_rule(strokeWidth=2.5, opacity=0.55).encode(x="lo:Q", x2="hi:Q")
    problems = max(row["problems"] for row in rows)
    return alt.layer(whiskers, points).properties(
        width=WIDTH,
        height={"step": 22},
        title=make_title(
            "People and models on the same problems",
            f"by the scorer {rules}, up to {problems:,} problems",
            simulated=any(row["simulated"] for row in rows),
        ),
    )


def _describe_row(row: dict[str, Any], is_mixed: bool) -> dict[str, Any]:
    names = {
        MODEL: f"{row['model']} · {row['setting']}",
        EVERYBODY: "everybody",
        GROUP: f"{row['respondent']} ({row['people']})",
    }
    mark = f" · {SIMULATED}" if is_mixed and row["simulated"] else ""
    return {
        "name": names.get(row["kind"], row["respondent"]) + mark,
        "kind": _NAMES[row["kind"]],
        "acc": 100 * row["estimate"],
        "lo": 100 * row["low"],
        "hi": 100 * row["high"],
    }
