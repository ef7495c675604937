"""The figures of the report, as Altair charts drawn to SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from omibench.results.load import Results
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.claims import (
    failures_sentence,
    images_sentence,
    judge_sentence,
    runner_up_sentence,
)
from omibench.stages.analyze.report.by_images import by_images
from omibench.stages.analyze.report.marks import (
    WIDTH,
    colour_of,
    data_of,
    leading,
    model_name,
    per_cent,
    row_name,
    rules_label,
    shape_of,
    title_of,
    totals_of,
    which,
)
from omibench.stages.analyze.report.theme import Chart, render
from omibench.stages.analyze.tables.accuracy import TOTAL, FailureCount, Score, image_bins
from omibench.stages.analyze.tables.summary import Summary
from omibench.stages.analyze.words import level, outcome_name, scored_by

_APART = "\u241f"
"""Stands between the parts of a row's name, of which the first is shown."""
_NAMES = 300
"""Pixels that names of models take at most, left of a chart."""


class Picture(NamedTuple):
    """A figure of the report: its name, SVG in light colours, and what it shows in one sentence."""

    name: str
    svg: str
    takeaway: str


def pictures(results: Results, summary: Summary) -> list[Picture]:
    """Every figure for which the study has data."""
    rows, images = summary.scores, summary.images
    drawn = [
        Picture("accuracy", render(accuracy(results, rows)), runner_up_sentence(results, rows)),
    ]
    if len(image_bins(results)) > 1:
        chart = by_images(results, images)
        drawn.append(Picture("images", render(chart), images_sentence(results, images)))
    if len(results.rules) > 1:
        chart = rule_books(results, rows)
        drawn.append(Picture("rules", render(chart), judge_sentence(results)))
    if any(f.rules == results.failure_rules for f in summary.failures):
        chart = failure_bars(results, summary.failures, rows)
        drawn.append(Picture("failures", render(chart), failures_sentence(results, rows)))
    return drawn


def accuracy(results: Results, rows: Sequence[Score]) -> Chart:
    """Accuracy with intervals, a row a model, a colour and shape a setting.

    Where most models have few of the settings, each cell has a row instead, the first of a model's
    with its name.
    """
    whole = totals_of(rows, results.main_rules)
    totals = leading(whole)
    settings = list(dict.fromkeys(s.cell.setting for s in totals))
    models = list(dict.fromkeys(s.cell.model for s in totals))
    sparse = 2 * len(totals) < len(models) * len(settings)
    data = [
        {
            "model": model_name(results, model),
            "row": _APART.join(["" if i else model_name(results, model), model, str(i)]),
            "setting": results.setting_label(s.cell.setting),
            **per_cent(s.acc),
        }
        for model in models
        for i, s in enumerate(s for s in totals if s.cell.model == model)
    ]
    names = [results.setting_label(s) for s in settings]
    named = alt.Axis(labelExpr=f"split(datum.label, '{_APART}')[0]", ticks=False, labelPadding=8)
    base = alt.Chart(data_of(data)).encode(
        color=colour_of("setting", names, "Setting", WIDTH - _NAMES),
    )
    base = (
        base.encode(y=alt.Y("row:N", sort=None, title=None, axis=named))
        if sparse
        else base.encode(
            y=alt.Y("model:N", sort=None, title=None),
            yOffset=alt.YOffset("setting:N", sort=names),
        )
    )
    marks = base.mark_point().encode(
        x=alt.X("acc:Q", title="Accuracy, %", scale=alt.Scale(domain=[0, 100])),
        shape=shape_of("setting", names, "Setting"),
    )
    whiskers = base.mark_rule(strokeWidth=2.5, opacity=0.55).encode(x="lo:Q", x2="hi:Q")
    return alt.layer(whiskers, marks).properties(
        width=WIDTH,
        height={"step": 19},
        title=title_of(
            "Accuracy by model and setting",
            f"by {scored_by(results.main_rules)}, "
            f"{level(results.study.analyze.confidence)} intervals",
            *filter(None, [which(whole)]),
            simulated=results.main_simulated,
        ),
    )


def rule_books(results: Results, rows: Sequence[Score]) -> Chart:
    """The same responses under every rule book and the judge, a row a cell."""
    whole = totals_of(rows, results.main_rules)
    kept = [s.cell for s in leading(whole)]
    names = [rules_label(results, r) for r in results.rules]
    data = [
        {
            "cell": row_name(results, s.cell),
            "rules": rules_label(results, s.rules),
            "acc": 100 * s.acc.mean,
        }
        for s in rows
        if s.subject == TOTAL and s.cell in kept
    ]
    base = alt.Chart(data_of(data)).encode(
        y=alt.Y("cell:N", sort=None, title=None, axis=alt.Axis(grid=True)),
        yOffset=alt.YOffset("rules:N", sort=names),
    )
    marks = base.mark_point(size=60).encode(
        x=alt.X("acc:Q", title="Right, %", scale=alt.Scale(domain=[0, 100])),
        color=colour_of("rules", names, "Scored by"),
        shape=shape_of("rules", names, "Scored by"),
    )
    return alt.layer(marks).properties(
        width=WIDTH,
        height={"step": 10},
        title=title_of(
            "Rule books and judge on the same responses",
            ": ".join(filter(None, ["one row a cell", which(whole)])),
            simulated=results.any_simulated,
        ),
    )


def failure_bars(
    results: Results, failures: Sequence[FailureCount], rows: Sequence[Score]
) -> Chart:
    """Responses that hold no scorable answer, by outcome, as a share of each cell's."""
    whole = totals_of(rows, results.main_rules)
    kept = [s.cell for s in leading(whole)]
    rules = results.failure_rules or results.main_rules
    own = [f for f in failures if f.rules == rules]
    names = [outcome_name(key) for key in FAILURES if any(f.outcome == key for f in own)]
    data = [
        {
            "cell": row_name(results, f.cell),
            "outcome": outcome_name(f.outcome),
            "order": names.index(outcome_name(f.outcome)),
            "share": 100 * f.count / f.n,
            "count": str(f.count),
        }
        for f in own
        if f.cell in kept
    ]
    cells = [row_name(results, cell) for cell in kept]
    base = alt.Chart(data_of(data)).encode(
        y=alt.Y("cell:N", sort=cells, scale=alt.Scale(domain=cells), title=None),
        x=alt.X("share:Q", stack="zero", title="Responses without a scorable answer, %"),
        order=alt.Order("order:Q"),
    )
    bars = base.mark_bar(height=14).encode(color=colour_of("outcome", names, "Outcome"))
    return alt.layer(bars).properties(
        width=WIDTH,
        height={"step": 22},
        title=title_of(
            "Failures by outcome",
            ": ".join(filter(None, [f"by {scored_by(rules)}", which(whole)])),
            simulated=results.rests_on_simulation(rules),
        ),
    )
