"""What judges and people say of responses: errors, wrong steps, marks, and how far they agree."""

from __future__ import annotations

import altair as alt
import polars as pl

from omibench.review.agreement.figures import ALPHA, ALPHA_MASI, ALPHA_ORDINAL
from omibench.schemas.verdict import HIGHEST_MARK, LOWEST_MARK
from omibench.stages.analyze.figures.chart_parts import (
    MOST_ROWS,
    count_lines,
    draw_rows,
    embed_data,
    encode_colour,
    finish,
    finish_rows,
    head_lines,
    join_names,
    list_distinct,
    mark_mixed,
    name_lines,
    scale_up,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.theme import SERIES, Chart
from omibench.stages.analyze.formatting import name_outcome
from omibench.stages.analyze.results.reasoning import TYPE
from omibench.stages.analyze.sentences import SIMULATED

_BY = {"judge": "by judge", "people": "by people"}
_DRAWN = {"overall": "quality, overall", "alignment": "alignment with the reference"}
_SOURCE_STEP = 26
ALL_MODELS = "all models"
WAYS = {"": "judge or rules alone right", "judge_only": "judge alone right",
        "rules_only": "rules alone right"}  # fmt: skip
_FIELD_STEP = 22
AGREEMENT = "Agreement of reviewers"


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
    rows = scale_up(table.filter(slice=TYPE).to_dicts(), "estimate")
    named = mark_mixed(
        [
            {
                **row,
                "line": join_names({**row, "who": _BY[row["by"]]}, "label", "setting_label", "who"),
            }
            for row in rows
        ]
    )
    data = head_lines(named)
    if not data:
        return None
    total = dict.fromkeys(dict.fromkeys(row["value"] for row in data), 0.0)
    for row in data:
        total[row["value"]] += row["estimate"]
    types = sorted(total, key=lambda name: -total[name])
    ordered = [row | {"order": types.index(row["value"])} for row in data]
    names = list_distinct(data, "line")
    x = alt.X("estimate:Q", stack="zero", title="Failures, %", scale=alt.Scale(domain=[0, 100]))
    bars = (
        alt.Chart(embed_data(ordered))
        .mark_bar(height=14)
        .encode(
            y=alt.Y("line:N", sort=names, title=None, axis=alt.Axis(labelLimit=360)),
            x=x,
            order=alt.Order("order:Q"),
            color=encode_colour("value", types, ""),
        )
    )
    return finish_rows(
        alt.layer(bars), "error-types", data, "shares of classified failures", count_lines(named)
    )


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
    named = mark_mixed(
        [
            {
                **row,
                "scope": "one model" if row["model"] else "all labelled models",
                "line": join_names(
                    {**row, "label": row["label"] or "all models"}, "label", "setting_label"
                ),
            }
            for row in scale_up(table.to_dicts(), "estimate", "low", "high")
        ]
    )
    data = head_lines(named)
    chart = draw_rows(data, "Wrong steps, %", "scope", scale=alt.Scale(domain=[0, 100]))
    return finish_rows(chart, "wrong-steps", data, count_lines(named))


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
    named = name_lines(rows.to_dicts(), "label", "setting_label")
    data = [row | {"mark": _DRAWN[row["metric"]]} for row in head_lines(named)]
    if not data:
        return None
    scale = alt.Scale(domain=[LOWEST_MARK, HIGHEST_MARK], nice=False, zero=False)
    chart = draw_rows(data, "Mean mark, 1 to 5", "mark", scale=scale)
    return finish_rows(chart, "rationale-marks", data, count_lines(named))


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
    rows = table.filter(slice="source").rows(named=True)
    if not rows:
        return None
    values = list_distinct(rows, "value")
    data = [
        {
            "row": f"{row['model'] or ALL_MODELS} · {WAYS[row['disagreement']]} (n = {row['n']})",
            "source": name_outcome(row["value"]),
            "order": values.index(row["value"]),
            "share": 100 * row["estimate"],
        }
        for row in rows
    ]
    names = list_distinct(data, "row")
    bars = (
        alt.Chart(embed_data(data))
        .mark_bar(height=14)
        .encode(
            y=alt.Y("row:N", title=None, sort=names, scale=alt.Scale(domain=names)),
            x=alt.X("share:Q", stack="zero", title="Labelled disagreements, %"),
            order=alt.Order("order:Q"),
            color=encode_colour("source", [name_outcome(value) for value in values], "Source"),
        )
    )
    return finish(
        alt.layer(bars),
        "Sources of disagreement of judge and scorer",
        f"the scorer is {rows[0]['rules']}",
        height=_SOURCE_STEP * len(names),
        simulated=bool(table["simulated"].any()),
    )


@figure("agreement", "agreement", AGREEMENT, source="OMIBench, A.4.3")
def draw_agreement(table: pl.DataFrame) -> Chart | None:
    """Draw alpha with its interval, one row per kind of task and field.

    Alpha is ordinal for ratings, by MASI for sets of values, and nominal for the others. Options of
    a field are left out, and so are fields with a single value throughout.

    Args:
        table: The result `agreement`.

    Returns:
        The chart; None if no field has an alpha.
    """
    rows = table.filter(
        pl.col("metric").is_in([ALPHA, ALPHA_ORDINAL, ALPHA_MASI]),
        pl.col("option") == "",
        pl.col("estimate").is_not_null(),
    ).to_dicts()
    if not rows:
        return None
    is_mixed = len({row["simulated"] for row in rows}) > 1
    data = [
        {
            "name": f"{row['value']}: {row['field']}"
            + (f" · {SIMULATED}" if is_mixed and row["simulated"] else ""),
            "alpha": row["estimate"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in rows[:MOST_ROWS]
    ]
    lowest = min(0.0, *(row["low"] for row in data))
    scale = alt.Scale(domain=[lowest, 1])
    title = "Krippendorff's alpha"
    base = alt.Chart(embed_data(data)).encode(y=alt.Y("name:N", sort=None, title=None))
    lines = base.mark_rule(color=SERIES[0]).encode(
        x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"
    )
    points = base.mark_point(color=SERIES[0], filled=True).encode(
        x=alt.X("alpha:Q", title=title, scale=scale)
    )
    more = f"the first {MOST_ROWS} of {len(rows)} fields; " if len(rows) > MOST_ROWS else ""
    return finish(
        alt.layer(lines, points),
        AGREEMENT,
        f"{more}0 is chance, 1 is full agreement; lines are intervals",
        height={"step": _FIELD_STEP},
        simulated=any(row["simulated"] for row in rows),
    )
