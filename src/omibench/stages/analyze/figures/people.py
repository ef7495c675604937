"""People and models: on the same problems, and by year of the exam."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from omibench.stages.analyze.figures.chart_parts import (
    MOST_ROWS,
    embed_data,
    encode_colour,
    encode_shape,
    finish,
    make_title,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import (
    count_estimated_people,
    count_people_differences,
)
from omibench.stages.analyze.figures.theme import INK, Chart
from omibench.stages.analyze.people import EVERYBODY, GROUP, MODEL, PERSON
from omibench.stages.analyze.results.people_estimates import ESTIMATED
from omibench.stages.analyze.sentences import SIMULATED

_NAMES = {
    PERSON: "Person (interval: problems)",
    GROUP: "Group (people and problems)",
    EVERYBODY: "Everybody (people and problems)",
    MODEL: "Model (problems)",
}
MOST_MODELS = 8
_PANEL = 420
"""The width of a panel, in pixels."""


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
    return finish(
        alt.layer(whiskers, points),
        "People and models on the same problems",
        f"by the scorer {rules}, up to {problems:,} problems",
        height={"step": 22},
        simulated=any(row["simulated"] for row in rows),
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
