"""pass@k and majority@k against log2 k, with fitted lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from omibench.stages.analyze.figures.curves.lines import (
    describe_rules,
    describe_selection,
    finish_lines,
    join_names,
    mark_mixed,
    pick_rules,
    scale_up,
    select_lines,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.interval_findings import count_vote_slopes
from omibench.stages.analyze.figures.marks import embed_data, encode_colour, encode_shape

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart

_TICKS = (1, 2, 4, 8, 16)


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
    names = list(dict.fromkeys(row["line"] for row in data))
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
