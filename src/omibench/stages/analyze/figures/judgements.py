"""What judges and people say of responses: errors, wrong steps, marks, and how far they agree."""

from __future__ import annotations

import altair as alt
import polars as pl

from omibench.review.agreement.figures import ALPHA, ALPHA_MASI, ALPHA_ORDINAL
from omibench.schemas.verdict import HIGHEST_MARK, LOWEST_MARK
from omibench.stages.analyze.figures.charts import (
    MOST_ROWS,
    draw_intervals,
    draw_rows,
    encode_names,
    finish,
    finish_rows,
    head_lines,
    join_names,
    keep_values,
    list_distinct,
    make_chart,
    mark_mixed,
    name_lines,
    per_cent,
    scale_up,
    stack_bars,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.theme import SERIES, Chart
from omibench.stages.analyze.formatting import name_outcome
from omibench.stages.analyze.results.reasoning import TYPE

_DRAWN = {"overall": "quality, overall", "alignment": "alignment with the reference"}
ALL_MODELS = "all models"
WAYS = {"": "judge or scorer alone right", "judge_only": "judge alone right",
        "rules_only": "scorer alone right"}  # fmt: skip


@figure(
    "error-types",
    "error-types",
    "Types of errors of failed responses",
    source="OMIBench, figure 7; EMMA, figure 5; MathReal, figure 6",
)
def draw_errors(table: pl.DataFrame) -> Chart | None:
    """Draw one bar per cell and classifier, stacked by error type.

    Args:
        table: The result `error-types`.
    """
    rows = [row | {"who": f"by {row['by']}"} for row in table.filter(slice=TYPE).to_dicts()]
    names = ("label", "setting_label", "who")
    named = [row | {"line": join_names(row, *names)} for row in scale_up(rows)]
    data, selection = head_lines(mark_mixed(named))
    if not data:
        return None
    total = dict.fromkeys(list_distinct(data, "value"), 0.0)
    for row in data:
        total[row["value"]] += row["estimate"]
    types = sorted(total, key=lambda name: -total[name])
    bars = [row | {"part": row["value"].replace("_", " ")} for row in data]
    types = [name.replace("_", " ") for name in types]
    chart = stack_bars(bars, types, "Failures, %", "", x=per_cent("Failures, %"))
    title, shares = "Types of errors of failed responses", "shares of classified failures"
    return finish_rows(chart, title, data, shares, selection)


@figure(
    "wrong-steps",
    "wrong-steps",
    "Steps of rationales with an error, as labelled by annotators",
    source="OMIBench, section 5",
)
def draw_wrong_steps(table: pl.DataFrame) -> Chart | None:
    """Draw the share of wrong steps, one row per cell, and one over all models of a setting.

    Args:
        table: The result `wrong-steps`.
    """
    rows = [
        row
        | {
            "scope": "one model" if row["model"] else "all labelled models",
            "line": join_names(row | {"of": row["label"] or ALL_MODELS}, "of", "setting_label"),
        }
        for row in scale_up(table.to_dicts())
    ]
    data, selection = head_lines(mark_mixed(rows))
    chart = draw_rows(data, "Wrong steps, %", "scope", scale=alt.Scale(domain=[0, 100]))
    title = "Steps of rationales with an error, as labelled by annotators"
    return finish_rows(chart, title, data, selection)


@figure(
    "rationale-marks",
    "rationale-marks",
    "Quality of rationales and their alignment with the reference",
    source="OMIBench, B.2",
)
def draw_marks(table: pl.DataFrame) -> Chart | None:
    """Draw the overall mark and the alignment of each cell, with intervals.

    Args:
        table: The result `rationale-marks`.
    """
    rows = table.filter(table["metric"].is_in(list(_DRAWN)) & table["estimate"].is_not_null())
    data, selection = head_lines(name_lines(rows.to_dicts(), "label", "setting_label"))
    if not data:
        return None
    marks = [row | {"mark": _DRAWN[row["metric"]]} for row in data]
    scale = alt.Scale(domain=[LOWEST_MARK, HIGHEST_MARK], nice=False, zero=False)
    chart = draw_rows(marks, "Mean mark, 1 to 5", "mark", scale=scale)
    title = "Quality of rationales and their alignment with the reference"
    return finish_rows(chart, title, data, selection)


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
    rows = table.filter(slice="source").to_dicts()
    if not rows:
        return None
    data = [
        {
            "line": f"{row['model'] or ALL_MODELS} · {WAYS[row['disagreement']]} (n = {row['n']})",
            "part": name_outcome(row["value"]),
            "estimate": 100 * row["estimate"],
        }
        for row in rows
    ]
    title, axis = "Sources of disagreement of judge and scorer", "Labelled disagreements, %"
    chart = stack_bars(data, list_distinct(data, "part"), axis, "Source")
    height = 26 * len(list_distinct(data, "line"))
    return finish(chart, title, f"the scorer is {rows[0]['rules']}", of=table, height=height)


@figure("agreement", "agreement", "Agreement of reviewers", source="OMIBench, A.4.3")
def draw_agreement(table: pl.DataFrame) -> Chart | None:
    """Draw alpha with its interval, one row per kind of task and field.

    Alpha is ordinal for ratings, by MASI for sets of values, and nominal for the others. Options of
    a field are left out, and so are fields with a single value throughout.

    Args:
        table: The result `agreement`.

    Returns:
        The chart; None if no field has an alpha.
    """
    alphas = table.filter(pl.col("metric").is_in([ALPHA, ALPHA_ORDINAL, ALPHA_MASI]), option="")
    rows = alphas.drop_nulls("estimate").to_dicts()
    if not rows:
        return None
    named = [row | {"name": f"{row['value']}: {row['field']}"} for row in rows]
    data = [keep_values(row, "name") for row in mark_mixed(named, "name")[:MOST_ROWS]]
    scale = alt.Scale(domain=[min(0.0, *(row["low"] for row in data)), 1])
    base, colour = make_chart(data).encode(y=encode_names("name")), {"color": SERIES[0]}
    x = {"title": "Krippendorff's alpha", "scale": scale}
    chart = alt.layer(*draw_intervals(base, x, colour, {**colour, "filled": True}))
    more = f"the first {MOST_ROWS} of {len(rows)} fields; " if len(rows) > MOST_ROWS else ""
    note = f"{more}0 is chance, 1 is full agreement; lines are intervals"
    return finish(chart, "Agreement of reviewers", note, of=rows)
