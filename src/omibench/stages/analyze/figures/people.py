"""People and models: on the same problems, and by year of the exam."""

from __future__ import annotations

import altair as alt
import polars as pl

from omibench.stages.analyze.figures.charts import (
    LEADS,
    MOST_ROWS,
    Row,
    draw_intervals,
    draw_panels,
    encode_colour,
    encode_names,
    encode_shape,
    finish,
    keep_values,
    list_distinct,
    make_chart,
    mark_mixed,
    per_cent,
    scale_up,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import (
    count_estimated_people,
    count_people_differences,
)
from omibench.stages.analyze.figures.items import PALE, place_years
from omibench.stages.analyze.figures.scores import WHISKER
from omibench.stages.analyze.figures.theme import INK, Chart
from omibench.stages.analyze.people import EVERYBODY, GROUP, MAJORITY, MODEL, PERSON
from omibench.stages.analyze.results.accuracy import MIN_PROBLEMS
from omibench.stages.analyze.results.people_estimates import ESTIMATED

_NAMES = {
    PERSON: "Person (interval: problems)",
    GROUP: "Group (people and problems)",
    EVERYBODY: "Everybody (people and problems)",
    MAJORITY: "Majority of people (problems)",
    MODEL: "Model (problems)",
}
MOST_MODELS = 8


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
    accuracies = table.filter(metric="accuracy", slice="")
    people = accuracies.filter(pl.col("kind") != MODEL)
    if people.is_empty():
        return None
    rules = people["rules"][0]
    every = pl.concat([people.filter(rules=rules), _keep_first_setting(accuracies, rules)])
    rows = [
        row | {"name": _name(row), "kind": name}
        for kind, name in _NAMES.items()
        for row in every.filter(kind=kind)
        .sort("estimate", descending=True, maintain_order=True)
        .head(MOST_ROWS)
        .to_dicts()
    ]
    data = [keep_values(row, "name", "kind") for row in mark_mixed(scale_up(rows), "name")]
    kinds = list_distinct(data, "kind")
    base = make_chart(data).encode(y=encode_names("name"), color=encode_colour("kind", kinds, ""))
    shape = encode_shape("kind", kinds, "")
    chart = alt.layer(*draw_intervals(base, per_cent(), WHISKER, shape=shape))
    problems = max(row["problems"] for row in rows)
    note = f"by the scorer {rules}, up to {problems:,} problems"
    return finish(chart, "People and models on the same problems", note, of=rows)


def _keep_first_setting(table: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Return the rows of models by one scorer, each under its first setting."""
    models = table.filter(kind=MODEL, rules=rules)
    first = models.group_by("model").agg(pl.col("setting").first())
    return models.join(first, on=["model", "setting"], maintain_order="left")


def _name(row: Row) -> str:
    names = {
        MODEL: f"{row['model']} · {row['setting']}",
        EVERYBODY: "everybody",
        GROUP: f"{row['respondent']} ({row['people']})",
    }
    return str(names.get(row["kind"], row["respondent"]))


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
    accuracies = table.filter(kind=MODEL, metric="accuracy")
    if accuracies.is_empty():
        return None
    models = _keep_first_setting(accuracies, accuracies["rules"][0])
    means = models.group_by("model", maintain_order=True).agg(
        (pl.col("estimate") * pl.col("n")).sum() / pl.col("n").sum()
    )
    ranked = means.sort("estimate", descending=True, maintain_order=True)["model"].to_list()
    leading = {row["model"] for row in table.to_dicts() if row.get(LEADS)}
    best = sorted(ranked, key=lambda model: model not in leading)[:MOST_MODELS]
    rows = pl.concat([models.filter(pl.col("model").is_in(best)), table.filter(kind=ESTIMATED)])
    data = [
        keep_values(row, "kind", "model", "n", "year")
        | {"panel": row["exam"], "is_few": row["kind"] == MODEL and row["n"] < MIN_PROBLEMS}
        for row in scale_up(rows.to_dicts())
    ]
    base = make_chart(data).encode(
        x=place_years(list_distinct(data, "year")),
        y=alt.Y("estimate:Q", **per_cent()),
    )
    is_model = f"datum.kind === '{MODEL}'"
    marks = base.transform_filter(is_model).encode(color=encode_colour("model", best, "Model"))
    pale = alt.condition("datum.is_few", alt.value(PALE), alt.value(1))
    few = any(row["is_few"] for row in data)
    bars = base.transform_filter(f"!({is_model})")
    return draw_panels(
        alt.layer(
            bars.mark_tick(color=INK, thickness=4, size=30, opacity=1, orient="horizontal"),
            marks.transform_filter("!datum.is_few").mark_line(),
            marks.mark_point().encode(shape=encode_shape("model", best, "Model"), opacity=pale),
        ),
        sorted(list_distinct(data, "panel")),
        "Models and estimated scores of participants, by year",
        "black bars: participants, estimated from cut-offs of the whole exam"
        + f"; pale and not joined: a year of fewer than {MIN_PROBLEMS} problems" * few,
        size=(420, 260),
        of=rows,
    )
