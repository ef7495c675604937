"""Accuracy and number of questions by year of the exam."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.curves.lines import (
    describe_rules,
    describe_selection,
    draw_lines,
    finish_lines,
    name_lines,
    pick_rules,
    scale_up,
    select_lines,
)
from omibench.stages.analyze.figures.figure import FIGURES, figure
from omibench.stages.analyze.figures.marks import WIDTH, embed_data, encode_colour, make_title
from omibench.stages.analyze.results.curves.items import QUESTIONS

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart

_BAR_HEIGHT = 140
_MOST_CELLS = 6
"""The number of lines that stay distinguishable if years have few questions and lines cross."""


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
    data = select_lines(scale_up(rows, "estimate", "low", "high"), _MOST_CELLS)
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
    exams = list(dict.fromkeys(row["exam"] for row in rows))
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
    title = make_title(FIGURES.get("questions-by-year").title, simulated=is_simulated)
    return alt.layer(bars).properties(width=WIDTH, height=_BAR_HEIGHT, title=title)
