"""The figures of the report, as Altair charts drawn to SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from omibench.analyze.claims import (
    SIMULATED,
    failures_sentence,
    images_sentence,
    judge_sentence,
    runner_up_sentence,
)
from omibench.analyze.intervals import Estimate
from omibench.analyze.load import JUDGE_RULES, Results
from omibench.analyze.report.theme import INK, MUTED, Chart, colours, render, shapes
from omibench.analyze.summary import Summary
from omibench.analyze.tables import (
    ALL_CELLS,
    TOTAL,
    FailureCount,
    ImageScore,
    Score,
    image_bins,
    in_image_bin,
)
from omibench.analyze.words import OUTCOME_NAMES, counted, level, rules_name, scored_by
from omibench.study import Cell

WIDTH = 960
"""Pixels of a whole figure, labels included."""
MOST_ROWS = 40
"""Rows of one figure; a larger study shows its best cells, and the tables hold all."""
MOST_LINES = 7


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
    if any(f.rules == results.main_rules for f in summary.failures):
        chart = failure_bars(results, summary.failures, rows)
        drawn.append(Picture("failures", render(chart), failures_sentence(results, rows)))
    return drawn


def accuracy(results: Results, rows: Sequence[Score]) -> Chart:
    """Accuracy with intervals, a row a model, a colour and shape a setting."""
    totals = _leading(_totals(rows, results.main_rules))
    settings = list(dict.fromkeys(s.cell.setting for s in totals))
    data = [
        {
            "model": _model(results, s.cell.model),
            "setting": results.setting_label(s.cell.setting),
            **_per_cent(s.acc),
        }
        for s in totals
    ]
    names = [results.setting_label(s) for s in settings]
    base = alt.Chart(_data(data)).encode(
        y=alt.Y("model:N", sort=None, title=None),
        yOffset=alt.YOffset("setting:N", sort=names),
        color=_colour("setting", names, "Setting"),
    )
    marks = base.mark_point().encode(
        x=alt.X("acc:Q", title="Accuracy, %", scale=alt.Scale(domain=[0, 100])),
        shape=_shape("setting", names, "Setting"),
    )
    whiskers = base.mark_rule(strokeWidth=2.5, opacity=0.55).encode(x="lo:Q", x2="hi:Q")
    return alt.layer(whiskers, marks).properties(
        width=WIDTH,
        height={"step": 19},
        title=_title(
            results,
            "Accuracy by model and setting",
            f"by {scored_by(results.main_rules)}, {_level(results)} intervals",
        ),
    )


def by_images(results: Results, rows: Sequence[ImageScore]) -> Chart:
    """Accuracy by number of images: all cells together with intervals, and a line a model."""
    rules = results.of(results.main_rules)
    bins = image_bins(results)
    problems = {b: rules_problems(results, b) for b in bins}
    label = {b: f"{b}|{counted(problems[b], 'problem')}" for b in bins}
    pooled = [
        {"bin": label[s.images], **_per_cent(s.acc)}
        for s in rows
        if s.cell == ALL_CELLS and s.rules == results.main_rules
    ]
    models = list(dict.fromkeys(cell.model for cell in results.study.cells))[:MOST_LINES]
    lines = [
        {
            "bin": label[b],
            "model": _model(results, m),
            "acc": 100 * part["verdict"].sum() / part.height,
        }
        for m in models
        for b in bins
        if (part := in_image_bin(rules.filter(model=m), b)).height
    ]
    names = [_model(results, m) for m in models]
    x = alt.X(
        "bin:O",
        sort=list(label.values()),
        title="Images in the problem",
        axis=alt.Axis(labelExpr="split(datum.label, '|')", labelAngle=0),
    )
    y = alt.Y("acc:Q", title="Accuracy, %", scale=alt.Scale(domain=[0, 100]))
    each = alt.Chart(_data(lines)).encode(
        x=x, y=y, color=_colour("model", names, "Model"), shape=_shape("model", names, "Model")
    )
    every = alt.Chart(_data(pooled)).encode(x=x)
    return alt.layer(
        every.mark_bar(width=64, color=MUTED, opacity=0.22).encode(y="lo:Q", y2="hi:Q"),
        every.mark_tick(width=64, thickness=3, color=INK).encode(y="acc:Q"),
        each.mark_line(strokeWidth=1.5, opacity=0.75).encode(shape=alt.Undefined),
        each.mark_point(size=70),
    ).properties(
        width=WIDTH,
        height=300,
        title=_title(
            results,
            "Accuracy by number of images",
            f"bars: all cells together, {_level(results)} interval; points: each model",
        ),
    )


def rules_problems(results: Results, images: str) -> int:
    """How many problems a bin of image counts holds."""
    return in_image_bin(results.of(results.main_rules), images)["id"].n_unique()


def rule_books(results: Results, rows: Sequence[Score]) -> Chart:
    """The same responses under every rule book and the judge, a row a cell."""
    kept = [s.cell for s in _leading(_totals(rows, results.main_rules))]
    names = [_rules(results, r) for r in results.rules]
    data = [
        {
            "cell": _cell(results, s.cell),
            "rules": _rules(results, s.rules),
            "acc": 100 * s.acc.mean,
        }
        for s in rows
        if s.subject == TOTAL and s.cell in kept
    ]
    base = alt.Chart(_data(data)).encode(
        y=alt.Y("cell:N", sort=None, title=None, axis=alt.Axis(grid=True)),
        yOffset=alt.YOffset("rules:N", sort=names),
    )
    marks = base.mark_point(size=60).encode(
        x=alt.X("acc:Q", title="Right, %", scale=alt.Scale(domain=[0, 100])),
        color=_colour("rules", names, "Scored by"),
        shape=_shape("rules", names, "Scored by"),
    )
    return alt.layer(marks).properties(
        width=WIDTH,
        height={"step": 10},
        title=_title(results, "Rule books and judge on the same responses", "one row a cell"),
    )


def failure_bars(
    results: Results, failures: Sequence[FailureCount], rows: Sequence[Score]
) -> Chart:
    """Responses that hold no scorable answer, by outcome, as a share of each cell's."""
    kept = [s.cell for s in _leading(_totals(rows, results.main_rules))]
    own = [f for f in failures if f.rules == results.main_rules]
    names = [name for key, name in OUTCOME_NAMES.items() if any(f.outcome == key for f in own)]
    data = [
        {
            "cell": _cell(results, f.cell),
            "outcome": OUTCOME_NAMES[f.outcome],
            "order": names.index(OUTCOME_NAMES[f.outcome]),
            "share": 100 * f.count / f.n,
            "count": str(f.count),
        }
        for f in own
        if f.cell in kept
    ]
    cells = [_cell(results, cell) for cell in kept]
    base = alt.Chart(_data(data)).encode(
        y=alt.Y("cell:N", sort=cells, scale=alt.Scale(domain=cells), title=None),
        x=alt.X("share:Q", stack="zero", title="Responses without a scorable answer, %"),
        order=alt.Order("order:Q"),
    )
    bars = base.mark_bar(height=14).encode(color=_colour("outcome", names, "Outcome"))
    return alt.layer(bars).properties(
        width=WIDTH,
        height={"step": 22},
        title=_title(results, "Failures by outcome", f"by {scored_by(results.main_rules)}"),
    )


def _data(values: list[dict[str, Any]]) -> alt.InlineData:
    return alt.InlineData(values=values)


def _totals(rows: Sequence[Score], rules: str) -> list[Score]:
    return [s for s in rows if s.subject == TOTAL and s.rules == rules]


def _leading(totals: list[Score]) -> list[Score]:
    if len(totals) <= MOST_ROWS:
        return totals
    return sorted(totals, key=lambda s: -s.acc.mean)[:MOST_ROWS]


def _model(results: Results, model: str) -> str:
    marked = any(sim for cell, sim in results.simulated.items() if cell.model == model)
    return f"{results.label(model)} · {SIMULATED}" if marked else results.label(model)


def _cell(results: Results, cell: Cell) -> str:
    return f"{_model(results, cell.model)} · {results.setting_label(cell.setting)}"


def _rules(results: Results, rules: str) -> str:
    mark = f" · {SIMULATED} judge" if rules == JUDGE_RULES and results.judge_simulated else ""
    return rules_name(rules) + mark


def _per_cent(acc: Estimate) -> dict[str, float]:
    return {"acc": 100 * acc.mean, "lo": 100 * acc.lo, "hi": 100 * acc.hi}


def _level(results: Results) -> str:
    return level(results.study.analyze.confidence)


def _title(results: Results, title: str, subtitle: str) -> dict[str, Any]:
    mark = f"{SIMULATED} · " if results.any_simulated else ""
    return {"text": mark + title, "subtitle": subtitle}


def _colour(field: str, names: Sequence[str], title: str) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=colours(len(names)))
    return alt.Color(f"{field}:N", scale=scale, title=title, legend=alt.Legend())


def _shape(field: str, names: Sequence[str], title: str) -> alt.Shape:
    scale = alt.Scale(domain=list(names), range=shapes(len(names)))
    return alt.Shape(f"{field}:N", scale=scale, title=title)
