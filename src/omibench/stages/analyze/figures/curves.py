"""Accuracy by samples, thinking budgets, examples in the prompt, and parameters of models."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from omibench.results.statistics.regression import find_saturation
from omibench.stages.analyze.figures.charts import (
    Row,
    describe_rules,
    finish_lines,
    join_names,
    list_distinct,
    make_chart,
    mark_mixed,
    per_cent,
    pick_rules,
    scale_up,
    select_lines,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import compare_ends, count_stars, count_vote_slopes
from omibench.stages.analyze.figures.labels import LineMarks, encode_lines, label_lines
from omibench.stages.analyze.figures.lines import draw_curves, draw_lines
from omibench.stages.analyze.figures.theme import INK, Chart

_TICKS = (1, 2, 4, 8, 16)
_LINE = ("label", "series")


@figure(
    "accuracy-by-k",
    "accuracy-by-k",
    "Accuracy by number of samples",
    source="OMIBench, figure 5c",
    finding=count_vote_slopes,
)
def draw_samples(table: pl.DataFrame) -> Chart | None:
    """Draw pass@k and majority@k against log2 k: points and fitted lines.

    Args:
        table: The result `accuracy-by-k`.
    """
    rules = pick_rules(table)
    rows = mark_mixed(
        [
            {**row, "line": join_names(row, "label", "setting_label", "curve")}
            for row in scale_up(table.filter(rules=rules).to_dicts())
            if row["curve"] != "consistency@k"
        ]
    )
    data, selection = select_lines([row for row in rows if row["k"]])
    if not data:
        return None
    names = list_distinct(data, "line")
    most = max(row["k"] for row in data)
    terms = {(row["line"], row["metric"]): row["estimate"] for row in rows}
    fits = [
        {"line": name, "k": k,
         "estimate": terms[name, "intercept"] + terms[name, "slope"] * (k.bit_length() - 1)}
        for name in names
        if (name, "slope") in terms
        for k in _TICKS
        if k <= most
    ]  # fmt: skip
    x = alt.X(
        "k:Q",
        title="Samples k",
        scale=alt.Scale(type="log", base=2, domain=[1, most], nice=False),
        axis=alt.Axis(values=[k for k in _TICKS if k <= most], format="d"),
    )
    y, marks = alt.Y("estimate:Q", **per_cent("Right, %")), encode_lines(names)
    lines, points = (
        make_chart(values).encode(x=x, y=y, color=marks.colour) for values in (fits, data)
    )
    curves = alt.layer(
        lines.mark_line(strokeWidth=1.5, clip=True),
        points.mark_point(size=50).encode(shape=marks.shape),
    )
    chart = label_lines(curves, data, x, marks, scale={"domain": [0, 100]})
    note = "lines: least squares on log2 k through k = 1, 3, 4, 8 and 16" if fits else ""
    title = "Accuracy by number of samples"
    return finish_lines(chart, title, data, describe_rules(rules), note, selection)


@figure(
    "accuracy-by-budget",
    "accuracy-by-budget",
    "Accuracy by token budget of a response",
    source="OMIBench, figure 5a",
    finding=compare_ends("budget", "largest budget", ("model", "series")),
)
def draw_budgets(table: pl.DataFrame) -> Chart | None:
    """Draw one line per model over budgets, on a log2 scale.

    Args:
        table: The result `accuracy-by-budget`.
    """
    return draw_curves("Accuracy by token budget of a response", table, _LINE, _place_budgets)


@figure(
    "tokens-by-budget",
    "accuracy-by-budget",
    "Tokens used by token budget of a response",
    source="OMIBench, H.1",
)
def draw_tokens(table: pl.DataFrame) -> Chart | None:
    """Draw one line per model: the mean number of generated tokens at each budget.

    Args:
        table: The result `accuracy-by-budget`.
    """
    title, axis = "Tokens used by token budget of a response", "Mean tokens of a response"
    tokens = table.filter(metric="tokens")
    return draw_curves(title, tokens, _LINE, _place_budgets, axis=axis, zero=True)


def _place_budgets(rows: Sequence[Row]) -> alt.X:
    budgets = sorted(list_distinct(rows, "budget"))
    scale = alt.Scale(type="log", base=2, domain=[budgets[0], budgets[-1]], nice=False)
    axis = alt.Axis(values=budgets, format=",d")
    return alt.X("budget:Q", title="Maximum of new tokens", scale=scale, axis=axis)


@figure(
    "accuracy-by-shots",
    "accuracy-by-shots",
    "Accuracy by the number of examples",
    source="USNCO-V, figure 2; OMIBench, figure 6a",
    finding=count_stars,
)
def draw_shots(table: pl.DataFrame) -> Chart | None:
    """Draw one line per model and exam; ribbons are one standard error over runs, stars are Welch's
    test.

    Args:
        table: The result `accuracy-by-shots`.
    """
    exams = table.filter(table["value"] != "", rules=pick_rules(table))
    return draw_curves(
        "Accuracy by the number of examples",
        table if exams.is_empty() else exams,
        ("label", "series", "value"),
        _place_shots,
        lambda rows: (
            "ribbons: one standard error over runs; stars: significantly above no examples "
            "(Welch's test, Holm's correction)"
        ),
        draw=_draw_ribbons,
        zero=False,
    )


def _place_shots(rows: Sequence[Row]) -> alt.X:
    most = max(row["shots"] for row in rows)
    axis = alt.Axis(tickCount=most, tickMinStep=1, format="d")
    return alt.X("shots:Q", title="Examples", axis=axis)


def _draw_ribbons(rows: Sequence[Row], x: alt.X, y: alt.Y, marks: LineMarks) -> Chart:
    data = [
        row | {"below": row["estimate"] - error, "above": row["estimate"] + error}
        for row in scale_up(rows, "sem")
        for error in [row["sem"] or 0]
    ]
    base = make_chart(data).encode(x=x, color=marks.colour)
    return alt.layer(
        base.mark_area(opacity=0.2).encode(y=alt.Y("below:Q", title=""), y2="above:Q"),
        base.mark_line(strokeWidth=1.5).encode(y=y),
        base.mark_point(size=60).encode(y=y, shape=marks.shape),
        base.mark_text(dy=-12, color=INK).encode(y=y, text="stars:N", color=alt.value(INK)),
    )


@figure(
    "accuracy-by-parameters",
    "accuracy-by-parameters",
    "Accuracy by the parameters of models",
    source="OMIBench, figure 5b",
    finding=compare_ends("parameters_b", "largest size", ("family", "variant", "setting")),
)
def draw_parameters(table: pl.DataFrame) -> Chart | None:
    """Draw one line per family over all parameters, with its saturation point.

    Args:
        table: The result `accuracy-by-parameters`.
    """
    title = "Accuracy by the parameters of models"
    return _draw_sizes(title, table, "parameters_b", "Parameters, billions")


@figure(
    "accuracy-by-active-parameters",
    "accuracy-by-parameters",
    "Accuracy by activated parameters of models",
    source="OMIBench, H.2",
)
def draw_active_parameters(table: pl.DataFrame) -> Chart | None:
    """Draw the same over activated parameters, if some models have fewer.

    Args:
        table: The result `accuracy-by-parameters`.
    """
    if (table["active_parameters_b"] == table["parameters_b"]).all():
        return None
    title, axis = "Accuracy by activated parameters of models", "Activated parameters, billions"
    return _draw_sizes(title, table, "active_parameters_b", axis)


def _draw_sizes(title: str, table: pl.DataFrame, column: str, axis: str) -> Chart | None:
    def place(rows: Sequence[Row]) -> alt.X:
        scale, grid = alt.Scale(type="log", base=10), alt.Axis(grid=False)
        return alt.X(f"{column}:Q", title=axis, scale=scale, axis=grid)

    def note(rows: Sequence[Row]) -> str:
        words = "dashes: beyond this size every larger model gains less than 0.5 points"
        return words if _find_ends(rows, column) else ""

    def draw(rows: Sequence[Row], x: alt.X, y: alt.Y, marks: LineMarks) -> Chart:
        lines, ends = draw_lines(rows, x, y, marks), _find_ends(rows, column)
        dashes = make_chart(ends).mark_rule(strokeDash=[4, 3]).encode(x=x, color=marks.colour)
        return alt.layer(dashes, lines) if ends else lines

    ordered = table.sort(column, maintain_order=True)
    return draw_curves(title, ordered, ("family", "variant", "setting"), place, note, draw=draw)


def _find_ends(rows: Sequence[Row], column: str) -> list[Row]:
    """Return the saturation points of lines that have one."""
    scores: dict[str, dict[float, float]] = {}
    for row in rows:
        line = scores.setdefault(row["line"], {})
        line[row[column]] = max(row["estimate"] / 100, line.get(row[column], 0.0))
    ends = {name: find_saturation(line) for name, line in scores.items()}
    return [{"line": name, column: size} for name, size in ends.items() if size is not None]


@figure("tuning-loss", "tuning-loss", "Training loss of tuned models", source="OMIBench, 6.4")
def draw_losses(table: pl.DataFrame) -> Chart | None:
    """Draw one line per tuned model: its loss by step.

    Args:
        table: The result `tuning-loss`.
    """
    title, axis = "Training loss of tuned models", "Nats per token of the answers"
    x = alt.X("step:Q", title="Step", scale=alt.Scale(zero=False, nice=False))
    rows = table.filter(pl.col("estimate").is_not_null())
    return draw_curves(title, rows, ("model",), lambda drawn: x, axis=axis, zero=True)
