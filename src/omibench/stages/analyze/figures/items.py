"""Problems by kind, length and year, and accuracy by year and by length of responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.chart_parts import (
    count_lines,
    describe_rules,
    describe_selection,
    draw_lines,
    draw_rows,
    embed_data,
    encode_colour,
    finish,
    finish_lines,
    finish_rows,
    head_lines,
    list_distinct,
    name_lines,
    pick_rules,
    scale_up,
    select_lines,
)
from omibench.stages.analyze.figures.figure import FIGURES, figure
from omibench.stages.analyze.figures.findings import compare_ends, count_gains
from omibench.stages.analyze.figures.theme import INK, MUTED, SERIES, Chart
from omibench.stages.analyze.results.problem_curves import QUESTIONS

if TYPE_CHECKING:
    import polars as pl

_NARROW, _BAR_STEP = 520, 20
MOST_BARS = 60
_SYNTHETIC = "SIMULATED: the problems are synthetic"
_BAR_HEIGHT = 140
_MOST_BY_YEAR = 6
"""The number of lines that stay distinguishable if years have few questions and lines cross."""
_WORDS = {
    "characters": "characters of the visible text",
    "output_tokens": "generated tokens",
    "reasoning_tokens": "reasoning tokens",
}
_MOST_BY_LENGTH = 8
"""The number of lines that stay distinguishable if all cross."""
_CELL = ("label", "setting_label")
_COMPARE = compare_ends("bin", "longest responses", ("model", "setting"))


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
    ).properties(width=_NARROW, height=_BAR_STEP * len(data), title=_title(table))


@figure(
    "question-lengths",
    table="question-lengths",
    title="Lengths of questions",
    source="MathReal, figure 10",
)
def draw_question_lengths(table: pl.DataFrame) -> Chart | None:
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
        .properties(width=_NARROW, height=220, title=_title(table))
    )
    return chart


def _title(table: pl.DataFrame) -> alt.TitleParams:
    return alt.TitleParams(_SYNTHETIC if table["simulated"].any() else "", fontSize=12)


@figure(
    "accuracy-by-year",
    "accuracy-by-year",
    "Accuracy by year of the exam",
    source="USNCO-V, figure 5, top",
)
def draw_years(table: pl.DataFrame) -> Chart | None:
    """Draw one line per cell and exam over the years; years with few items have wide intervals.

    Args:
        table: The result `accuracy-by-year`.
    """
    accuracies = table.filter(table["metric"] != QUESTIONS)
    rules = pick_rules(accuracies)
    rows = name_lines(
        accuracies.filter(rules=rules).sort("year", maintain_order=True).to_dicts(),
        "label", "setting_label", "exam",
    )  # fmt: skip
    if not rows:
        return None
    data = select_lines(scale_up(rows, "estimate", "low", "high"), _MOST_BY_YEAR)
    x = alt.X("year:Q", title="Year", axis=alt.Axis(format="d"), scale=alt.Scale(zero=False))
    chart = draw_lines(data, x, alt.Y("estimate:Q", title="Accuracy, %"))
    return finish_lines(
        chart, "accuracy-by-year", data, describe_rules(rules), describe_selection(data, rows)
    )


@figure(
    "questions-by-year",
    "accuracy-by-year",
    "Questions of each year",
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
    bars = (
        alt.Chart(embed_data(rows))
        .mark_bar(width=12)
        .encode(
            x=alt.X("year:Q", title="Year", axis=alt.Axis(format="d"), scale=alt.Scale(zero=False)),
            y=alt.Y("estimate:Q", title="Questions", stack="zero"),
            color=encode_colour("exam", exams, "Exam" if exams != [""] else ""),
        )
    )
    is_simulated = any(row["simulated"] for row in rows)
    title = FIGURES.get("questions-by-year").title
    return finish(alt.layer(bars), title, height=_BAR_HEIGHT, simulated=is_simulated)


def _pick_measure(table: pl.DataFrame) -> str:
    """Return the measure of length to draw: tokens if they were counted."""
    return "output_tokens" if "output_tokens" in set(table["slice"]) else "characters"


@figure(
    "accuracy-by-length",
    "accuracy-by-length",
    "Accuracy by the length of responses",
    finding=lambda table: _COMPARE(table.filter(slice=_pick_measure(table))),
)
def draw_lengths(table: pl.DataFrame) -> Chart | None:
    """Draw one line per cell through its bins, at their mean length in tokens, or in characters if
    tokens are unknown.

    Args:
        table: The result `accuracy-by-length`.
    """
    rules = pick_rules(table)
    measure = _pick_measure(table)
    part = table.filter(table["mean_length"] > 0, rules=rules, slice=measure)
    rows = name_lines(part.to_dicts(), *_CELL)
    if not rows:
        return None
    data = select_lines(scale_up(rows, "estimate", "low", "high"), _MOST_BY_LENGTH)
    scale = alt.Scale(type="log", nice=False)
    x = alt.X("mean_length:Q", title=f"Mean number of {_WORDS[measure]}", scale=scale)
    chart = draw_lines(data, x, alt.Y("estimate:Q", title="Accuracy, %"))
    subtitle = "five bins of each cell with equal numbers of responses"
    return finish_lines(
        chart,
        "accuracy-by-length",
        data,
        describe_rules(rules),
        subtitle,
        describe_selection(data, rows),
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
    rows = name_lines(table.filter(metric="spearman").to_dicts(), *_CELL)
    if not rows:
        return None
    data = head_lines([row | {"measure": _WORDS[row["slice"]]} for row in rows])
    scale = alt.Scale(domain=[-1, 1])
    chart = draw_rows(data, "Spearman's correlation", "measure", "Length in", scale)
    return finish_rows(chart, "length-correlations", data, count_lines(rows))
