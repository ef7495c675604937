"""Problems by kind, length, year and difficulty; accuracy by year and by length of responses."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from omibench.stages.analyze.figures.charts import (
    Row,
    describe_rules,
    draw_intervals,
    draw_rows,
    encode_colour,
    encode_names,
    encode_shape,
    finish,
    finish_rows,
    head_lines,
    list_distinct,
    make_chart,
    name_lines,
    per_cent,
    pick_rules,
    scale_up,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import (
    count_adjusted,
    count_flags,
    count_gains,
    describe_key_effects,
)
from omibench.stages.analyze.figures.labels import LineMarks
from omibench.stages.analyze.figures.lines import draw_curves
from omibench.stages.analyze.figures.theme import INK, MUTED, SERIES, Chart
from omibench.stages.analyze.results.accuracy import MIN_PROBLEMS
from omibench.stages.analyze.results.items import ABILITY, DIFFICULTY
from omibench.stages.analyze.results.problem_curves import QUESTIONS
from omibench.stages.analyze.results.result import ESTIMATE

MOST_BARS = 60
_MOST_BY_YEAR = 6
"""The number of lines that stay distinguishable if years have few questions and lines cross."""
_MOST_BY_LENGTH = 8
"""The number of lines that stay distinguishable if all cross."""
_WORDS = {
    "characters": "characters of the visible text",
    "output_tokens": "generated tokens",
    "reasoning_tokens": "reasoning tokens",
}
_CELL = ("label", "setting_label")
MOST_TICKS = 20
"""The number of years with a tick each; there is room for more on no screen."""
PALE = 0.35
"""The opacity of a year with few problems."""


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
        for row in rows.to_dicts()
    ]
    base = make_chart(data).encode(y=encode_names("name"), x=alt.X("problems:Q", title="Problems"))
    number = base.mark_text(align="left", dx=4, color=INK).encode(text="problems:Q")
    bars = alt.layer(base.mark_bar(color=SERIES[0], height=12), number)
    return _finish_narrow(bars, 20 * len(data), table)


@figure(
    "question-lengths",
    table="question-lengths",
    title="Lengths of problems",
    source="MathReal, figure 10",
)
def draw_question_lengths(table: pl.DataFrame) -> Chart | None:
    """Draw one bar per bin of lengths, in characters."""
    data = [
        {"from": row["least"], "to": row["most"] + 1, "questions": row["n"]}
        for row in table.to_dicts()
    ]
    bars = make_chart(data).encode(
        x=alt.X("from:Q", bin="binned", title="Characters of the problem"),
        x2="to:Q",
        y=alt.Y("questions:Q", title="Problems"),
    )
    return _finish_narrow(bars.mark_bar(color=SERIES[0], stroke=MUTED), 220, table)


def _finish_narrow(chart: Chart, height: int, table: pl.DataFrame) -> Chart:
    mark = "SIMULATED: the problems are synthetic" if table["simulated"].any() else ""
    return chart.properties(width=520, height=height, title=alt.TitleParams(mark, fontSize=12))


@figure(
    "accuracy-by-year",
    "accuracy-by-year",
    "Accuracy by year of the exam",
    source="USNCO-V, figure 5, top",
    finding=lambda table: count_adjusted(table, "year", "the last year minus the first"),
)
def draw_years(table: pl.DataFrame) -> Chart | None:
    """Draw one line per cell and exam over the years; years with few items have wide intervals.

    Args:
        table: The result `accuracy-by-year`.
    """
    accuracies = table.filter(table["metric"] != QUESTIONS).sort("year", maintain_order=True)
    title, lines = "Accuracy by year of the exam", (*_CELL, "exam")
    return draw_curves(
        title, accuracies, lines, lambda rows: place_years(list_distinct(rows, "year")), _note_few,
        most=_MOST_BY_YEAR, draw=_draw_years,
    )  # fmt: skip


def _draw_years(rows: Sequence[Row], x: alt.X, y: alt.Y, marks: LineMarks) -> Chart:
    """Draw points with intervals, joined where a year has enough problems."""
    data = [row | {"is_few": row["n"] < MIN_PROBLEMS} for row in rows]
    base = make_chart(data).encode(
        x=x,
        color=marks.colour,
        opacity=alt.condition("datum.is_few", alt.value(PALE), alt.value(1)),
    )
    return alt.layer(
        base.mark_rule().encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
        base.transform_filter("!datum.is_few").mark_line(strokeWidth=1.5).encode(y=y),
        base.mark_point(size=60).encode(y=y, shape=marks.shape),
    )


def _note_few(rows: Sequence[Row]) -> str:
    few = any(row["n"] < MIN_PROBLEMS for row in rows)
    return f"pale and not joined: a year of fewer than {MIN_PROBLEMS} problems" if few else ""


def place_years(years: Sequence[int]) -> alt.X:
    """Place years on an axis with one tick each, or one in so many if they are too many.

    Args:
        years: The years of the figure.
    """
    first, last = min(years), max(years)
    ticks = [*range(first, last + 1, 1 + (last - first) // MOST_TICKS)]
    scale = alt.Scale(domain=[first - 0.5, last + 0.5], nice=False)
    return alt.X("year:Q", title="Year", axis=alt.Axis(format="d", values=ticks), scale=scale)


@figure(
    "questions-by-year",
    "accuracy-by-year",
    "Problems of each year",
    source="USNCO-V, figure 5, bottom",
)
def draw_questions(table: pl.DataFrame) -> Chart | None:
    """Draw one bar per year, stacked by exam.

    Args:
        table: The result `accuracy-by-year`.
    """
    rows = table.filter(metric=QUESTIONS).select("exam", "year", "estimate", "simulated").to_dicts()
    if not rows:
        return None
    exams = list_distinct(rows, "exam")
    bars = make_chart(rows).encode(
        x=place_years(list_distinct(rows, "year")),
        y=alt.Y("estimate:Q", title="Problems", stack="zero"),
        color=alt.value(SERIES[0]) if exams == [""] else encode_colour("exam", exams, "Exam"),
    )
    chart = alt.layer(bars.mark_bar(width=12))
    return finish(chart, "Problems of each year", of=rows, height=140)


def _pick_measure(table: pl.DataFrame) -> str:
    """Return the measure of length to draw: tokens if they were counted."""
    return "output_tokens" if "output_tokens" in set(table["slice"]) else "characters"


@figure(
    "accuracy-by-length",
    "accuracy-by-length",
    "Accuracy by the length of responses",
    finding=lambda table: count_adjusted(
        table.filter(slice=_pick_measure(table)), "bin", "the longest responses minus the shortest"
    ),
)
def draw_lengths(table: pl.DataFrame) -> Chart | None:
    """Draw one line per cell through its bins, at their mean length in tokens, or in characters if
    tokens are unknown.

    Args:
        table: The result `accuracy-by-length`.
    """
    measure = _pick_measure(table)
    title = f"Mean number of {_WORDS[measure]}"
    x = alt.X("mean_length:Q", title=title, scale=alt.Scale(type="log", nice=False))
    return draw_curves(
        "Accuracy by the length of responses",
        table.filter(table["mean_length"] > 0, slice=measure),
        _CELL,
        lambda rows: x,
        lambda rows: "five bins of each cell with equal numbers of responses",
        most=_MOST_BY_LENGTH,
    )


@figure(
    "length-correlations",
    "length-correlations",
    "Correlation of correctness and length of responses",
    finding=count_gains("spearman", "rank correlation", "of length and correctness"),
)
def draw_correlations(table: pl.DataFrame) -> Chart | None:
    """Draw Spearman's correlation of length and verdict, one row per cell, one colour per measure.

    Args:
        table: The result `length-correlations`.
    """
    named = name_lines(table.filter(metric="spearman").to_dicts(), *_CELL)
    rows, selection = head_lines(named)
    if not rows:
        return None
    data = [row | {"measure": _WORDS[row["slice"]]} for row in rows]
    scale = alt.Scale(domain=[-1, 1])
    chart = draw_rows(data, "Spearman's correlation", "measure", "Length in", scale)
    title = "Correlation of correctness and length of responses"
    return finish_rows(chart, title, data, selection)


_BIN = 0.5
"""Width of a bin of difficulties, in log-odds."""


@figure("items", "items", "Difficulty of problems and ability of models", finding=count_flags)
def draw_items(table: pl.DataFrame) -> Chart | None:
    """Draw a Wright map: difficulties of the problems of each subject in bins, and abilities of the
    models with their intervals, on one scale."""
    rows = table.filter(rules=pick_rules(table))
    problems, right = rows.filter(metric=DIFFICULTY).sort("value"), pl.col("right")
    heads = (
        problems.group_by("value")
        .agg(pl.len(), none=(right == 0).sum(), every=(right == 1).sum())
        .with_columns(
            line=pl.format("{}: {} ({} by none, {} by all)", "value", "len", "none", "every")
        )
    )
    bins = (
        problems.drop_nulls("estimate")
        .group_by("value", estimate=(pl.col("estimate") / _BIN).round() * _BIN, maintain_order=True)
        .agg(pl.len().alias("problems"), pl.col("simulated").first())
        .join(heads.select("value", "line"), on="value", maintain_order="left")
    )
    models = rows.filter(metric=ABILITY).drop_nulls("low").sort("estimate", descending=True)
    if bins.is_empty() or models.is_empty():
        return None
    dots, no_dots = head_lines(bins.to_dicts())
    points, no_points = head_lines(models.select("simulated", *ESTIMATE, line="model").to_dicts())
    x: Row = {"title": "Log-odds", "scale": alt.Scale(zero=False, padding=16)}
    y = encode_names("line", [*list_distinct(dots, "line"), *list_distinct(points, "line")])
    legend = alt.Legend(values=sorted({1, max(row["problems"] for row in dots)}), format="d")
    size = alt.Size("problems:Q", title="Problems", scale=alt.Scale(range=[20, 400]), legend=legend)
    chart = alt.layer(
        make_chart(dots)
        .mark_point(color=SERIES[0], opacity=0.7)
        .encode(y=y, x=alt.X("estimate:Q", **x), size=size),
        *draw_intervals(
            make_chart(points).encode(y=y), x,
            {"color": SERIES[1]}, {"color": SERIES[1], "shape": "diamond"},
        ),
    )  # fmt: skip
    return finish_rows(
        chart, "Difficulty of problems and ability of models", [*dots, *points],
        describe_rules(rows["rules"][0]), no_dots or no_points,
    )  # fmt: skip


@figure(
    "key-effects",
    "key-effects",
    "Accuracy if suspected keys are wrong",
    finding=describe_key_effects,
)
def draw_key_effects(table: pl.DataFrame) -> Chart | None:
    """Draw one row per model: its accuracy as scored, without suspected keys, and with others.

    Args:
        table: The result `key-effects`; its first scorer is drawn.
    """
    rows = scale_up(table.filter(rules=table["rules"][0], metric="accuracy").to_dicts())
    named, selection = head_lines([row | {"line": row["model"]} for row in rows])
    keys = list_distinct(named, "keys")
    marks = (
        make_chart(named)
        .mark_point(size=60)
        .encode(
            y=encode_names("line", grid=True),
            x=alt.X("estimate:Q", **per_cent("Right, %")),
            color=encode_colour("keys", keys, "Keys"),
            shape=encode_shape("keys", keys, "Keys"),
        )
    )
    title = "Accuracy if suspected keys are wrong"
    return finish_rows(alt.layer(marks), title, named, describe_rules(named[0]["rules"]), selection)
