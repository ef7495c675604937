"""Accuracy by samples, thinking budgets, examples in the prompt, and parameters of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from omibench.results.statistics.regression import find_saturation
from omibench.stages.analyze.figures.chart_parts import (
    describe_rules,
    describe_selection,
    draw_lines,
    embed_data,
    encode_colour,
    encode_shape,
    finish_lines,
    join_names,
    list_distinct,
    mark_mixed,
    name_lines,
    pick_rules,
    scale_up,
    select_lines,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import compare_ends, count_stars, count_vote_slopes
from omibench.stages.analyze.figures.theme import INK

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart

_TICKS = (1, 2, 4, 8, 16)
_LINE = ("label", "series")
_LINE_KEYS = ("model", "series")


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
            for row in table.filter(rules=rules).to_dicts()
            if row["curve"] != "consistency@k"
        ]
    )
    data = select_lines(scale_up([r for r in rows if r["k"]], "estimate", "low", "high"))
    if not data:
        return None
    names = list_distinct(data, "line")
    most = max(row["k"] for row in data)
    fits = [fit for fit in _draw_fits(rows, most) if fit["line"] in names]
    colour, shape = encode_colour("line", names, ""), encode_shape("line", names, "")
    ticks = [k for k in _TICKS if k <= most]
    x = alt.X(
        "k:Q",
        title="Samples k",
        scale=alt.Scale(type="log", base=2, domain=[1, most], nice=False),
        axis=alt.Axis(values=ticks, format="d"),
    )
    y = alt.Y("estimate:Q", title="Right, %", scale=alt.Scale(domain=[0, 100]))
    points = alt.Chart(embed_data(data)).mark_point(size=50).encode(x=x, y=y, color=colour)
    lines = (
        alt.Chart(embed_data(fits))
        .mark_line(strokeWidth=1.5, clip=True)
        .encode(x=x, y=y, color=colour)
    )
    chart = alt.layer(lines, points.encode(shape=shape))
    subtitle = "lines: least squares on log2 k through k = 1, 3, 4, 8 and 16" if fits else ""
    return finish_lines(
        chart,
        "accuracy-by-k",
        data,
        describe_rules(rules),
        subtitle,
        describe_selection(data, rows),
    )


def _draw_fits(rows: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return both ends of each fitted line."""
    terms: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["metric"] in ("slope", "intercept"):
            terms.setdefault(row["line"], {})[row["metric"]] = 100 * row["estimate"]
    return [
        {"line": name, "k": k, "estimate": term["intercept"] + term["slope"] * (k.bit_length() - 1)}
        for name, term in terms.items()
        for k in _TICKS
        if k <= most
    ]


@figure(
    "accuracy-by-budget",
    "accuracy-by-budget",
    "Accuracy by token budget of a response",
    source="OMIBench, figure 5a",
    finding=compare_ends("budget", "largest budget", _LINE_KEYS),
)
def draw_budgets(table: pl.DataFrame) -> Chart | None:
    """Draw one line per model over budgets, on a log2 scale.

    Args:
        table: The result `accuracy-by-budget`.
    """
    rules = pick_rules(table)
    rows = name_lines(table.filter(rules=rules).to_dicts(), *_LINE)
    if not rows:
        return None
    data = select_lines(scale_up(rows, "estimate", "low", "high"))
    chart = draw_lines(data, _scale_budgets(data), alt.Y("estimate:Q", title="Accuracy, %"))
    return finish_lines(
        chart, "accuracy-by-budget", data, describe_rules(rules), describe_selection(data, rows)
    )


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
    rows = name_lines(table.filter(metric="tokens").to_dicts(), *_LINE)
    if not rows:
        return None
    data = select_lines(rows)
    y = alt.Y("estimate:Q", title="Mean tokens of a response", scale=alt.Scale(zero=True))
    return finish_lines(
        draw_lines(data, _scale_budgets(data), y),
        "tokens-by-budget",
        data,
        describe_selection(data, rows),
    )


def _scale_budgets(data: list[dict[str, object]]) -> alt.X:
    budgets = sorted({int(str(row["budget"])) for row in data})
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
    rules = pick_rules(table)
    part = table.filter(rules=rules)
    exams = part.filter(part["value"] != "")
    rows = name_lines((part if exams.is_empty() else exams).to_dicts(), "label", "series", "value")
    if not rows:
        return None
    data = [
        row | {"below": row["estimate"] - error, "above": row["estimate"] + error}
        for row in select_lines(scale_up(rows, "estimate", "low", "high", "sem"))
        for error in [row["sem"] or 0]
    ]
    names = list_distinct(data, "line")
    most = max(row["shots"] for row in data)
    x = alt.X("shots:Q", title="Examples", axis=alt.Axis(tickCount=most, tickMinStep=1, format="d"))
    y = alt.Y("estimate:Q", title="Accuracy, %", scale=alt.Scale(zero=False))
    base = alt.Chart(embed_data(data)).encode(x=x, color=encode_colour("line", names, ""))
    ribbons = base.mark_area(opacity=0.2).encode(y=alt.Y("below:Q", title=""), y2="above:Q")
    chart = alt.layer(
        ribbons,
        base.mark_line(strokeWidth=1.5).encode(y=y),
        base.mark_point(size=60).encode(y=y, shape=encode_shape("line", names, "")),
        base.mark_text(dy=-12, color=INK).encode(y=y, text="stars:N", color=alt.value(INK)),
    )
    subtitle = (
        "ribbons: one standard error over runs; stars: significantly above no examples (Welch)"
    )
    return finish_lines(
        chart,
        "accuracy-by-shots",
        data,
        describe_rules(rules),
        subtitle,
        describe_selection(data, rows),
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
    return _draw_sizes(table, "accuracy-by-parameters", "parameters_b", "Parameters, billions")


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
    name = "accuracy-by-active-parameters"
    return _draw_sizes(table, name, "active_parameters_b", "Activated parameters, billions")


def _draw_sizes(table: pl.DataFrame, name: str, column: str, title: str) -> Chart | None:
    rules = pick_rules(table)
    rows = name_lines(
        table.filter(rules=rules).sort(column, maintain_order=True).to_dicts(),
        "family", "variant", "setting",
    )  # fmt: skip
    if not rows:
        return None
    data = select_lines(scale_up(rows, "estimate", "low", "high"))
    x = alt.X(
        f"{column}:Q", title=title, scale=alt.Scale(type="log", base=10), axis=alt.Axis(grid=False)
    )
    ends = _find_ends(data, column)
    names = list_distinct(data, "line")
    rules_of_ends = (
        alt.Chart(embed_data(ends))
        .mark_rule(strokeDash=[4, 3])
        .encode(x=x, color=encode_colour("line", names, ""))
    )
    lines = draw_lines(data, x, alt.Y("estimate:Q", title="Accuracy, %"))
    chart = alt.layer(rules_of_ends, lines) if ends else lines
    subtitle = "dashes: beyond this size every larger model gains less than 0.5 points"
    return finish_lines(
        chart,
        name,
        data,
        describe_rules(rules),
        subtitle if ends else "",
        describe_selection(data, rows),
    )


def _find_ends(data: list[dict[str, Any]], column: str) -> list[dict[str, Any]]:
    """Return the saturation points of lines that have one."""
    scores: dict[str, dict[float, float]] = {}
    for row in data:
        line = scores.setdefault(row["line"], {})
        share = row["estimate"] / 100
        line[row[column]] = max(share, line.get(row[column], 0.0))
    ends = {name: find_saturation(line) for name, line in scores.items()}
    return [{"line": name, column: size} for name, size in ends.items() if size is not None]
