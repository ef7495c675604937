"""Accuracy against the size of models, with saturation points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.interval_findings import compare_ends
from omibench.stages.analyze.figures.marks import embed_data, encode_colour
from omibench.statistics.curves import find_saturation

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart


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
    names = list(dict.fromkeys(row["line"] for row in data))
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
