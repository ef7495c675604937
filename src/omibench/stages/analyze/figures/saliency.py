"""Figure 7b to e of USNCO-V: confidence, gains, the more confident setting, and impact, by exam."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from omibench.stages.analyze.figures.charts import (
    Row,
    draw_intervals,
    encode_colour,
    encode_names,
    finish,
    list_distinct,
    make_chart,
    stack_bars,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import count_gains
from omibench.stages.analyze.figures.theme import GRID, INK, SERIES, Chart
from omibench.stages.analyze.results.saliency import BIN_WIDTH

EVERY = "all"
"""The name of the row over all exams."""
OUTCOMES = {"win": "surer", "tie": "equal within 0.001 nats", "loss": "less sure"}
_BAR_ROOM = 0.8


@figure(
    "saliency-confidence",
    "saliency-gains",
    "Confidence in the chosen option",
    source="USNCO-V, figure 7b",
    finding=count_gains("gain", "mean gain", "in log P"),
)
def draw_confidence(table: pl.DataFrame) -> Chart | None:
    """Draw the mean of both settings of each pair with its interval, by exam.

    Args:
        table: The result `saliency-gains`.
    """
    data = [
        row | {"shown": row["baseline" if row["metric"] == "logprob_baseline" else "setting"]}
        for row in _select(table, ["logprob", "logprob_baseline"])
    ]
    if not data:
        return None
    base = make_chart(data).encode(y=_place_rows(data), yOffset="shown:N")
    colour = encode_colour("shown", list_distinct(data, "shown"), "Setting")
    x = {"title": "Mean log P of the chosen option, nats"}
    chart = alt.layer(*draw_intervals(base, x, color=colour))
    subtitle = "lines are intervals; nearer to 0 is more confident"
    return _finish(chart, "Confidence in the chosen option", table, data, subtitle)


@figure(
    "saliency-gains",
    "saliency-gain-histogram",
    "Gains of confidence per problem",
    source="USNCO-V, figure 7c",
)
def draw_gains(table: pl.DataFrame) -> Chart | None:
    """Draw the histogram of gains of each pair and exam, stacked vertically.

    Args:
        table: The result `saliency-gain-histogram`.
    """
    rows = _select(table, ["share"])
    if not rows:
        return None
    names, highest = list_distinct(rows, "line"), max(row["estimate"] for row in rows)
    data = [
        row
        | {
            "left": row["bin_high"] - BIN_WIDTH if row["bin_low"] is None else row["bin_low"],
            "right": row["bin_low"] + BIN_WIDTH if row["bin_high"] is None else row["bin_high"],
            "bottom": (bottom := len(names) - 1 - names.index(row["line"])),
            "top": bottom + _BAR_ROOM * row["estimate"] / highest,
        }
        for row in rows
    ]
    left = min(row["left"] for row in data)
    labels = [
        {"left": left, "top": len(names) - 0.08 - n, "line": name} for n, name in enumerate(names)
    ]
    scale = alt.Scale(domain=[0, len(names)], nice=False)
    low, high = (alt.Y(f"{name}:Q", scale=scale, axis=None) for name in ("bottom", "top"))
    bars = make_chart(data).mark_bar(color=SERIES[0], stroke=GRID)
    chart = alt.layer(
        bars.encode(
            x=alt.X("left:Q", title="Gain in log P, nats"), x2="right:Q", y=low, y2="top:Q"
        ),
        make_chart(labels)
        .mark_text(align="left", color=INK)
        .encode(x="left:Q", y=high, text="line:N"),
    )
    subtitle = f"the highest bar has {100 * highest:.0f} % of its problems; outer bars are open"
    return _finish(chart, "Gains of confidence per problem", table, data, subtitle, step=90)


@figure(
    "saliency-wins",
    "saliency-gains",
    "How often each setting is more confident",
    source="USNCO-V, figure 7d",
)
def draw_wins(table: pl.DataFrame) -> Chart | None:
    """Draw the shares of problems with a more, equally or less confident setting.

    Args:
        table: The result `saliency-gains`.
    """
    data = [
        row | {"estimate": 100 * row["estimate"], "part": OUTCOMES[row["metric"]]}
        for row in _select(table, list(OUTCOMES))
    ]
    if not data:
        return None
    parts, legend = list(OUTCOMES.values()), "The first setting is"
    chart = stack_bars(data, parts, "Problems, %", legend)
    return _finish(chart, "How often each setting is more confident", table, data)


@figure(
    "saliency-impact",
    "saliency-impact",
    "Occlusion impact",
    source="USNCO-V, figure 7e",
)
def draw_impacts(table: pl.DataFrame) -> Chart | None:
    """Draw a box for each setting of a pair and exam, with means as triangles and outliers as dots.

    Args:
        table: The result `saliency-impact`.
    """
    data = _select(table, table["metric"].unique().to_list())
    boxes: dict[str, Row] = {}
    for row in data:
        if row["metric"] != "outlier":
            boxes.setdefault(row["line"], {"line": row["line"]})[row["metric"]] = row["estimate"]
    if not boxes:
        return None

    def place(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title="Occlusion impact, nats")

    base = make_chart(boxes.values()).encode(y=_place_rows(data))
    outliers = make_chart(row for row in data if row["metric"] == "outlier")
    chart = alt.layer(
        base.mark_rule().encode(x=place("whisker_low"), x2="whisker_high:Q"),
        base.mark_bar(height=12, color=SERIES[4]).encode(x=place("q1"), x2="q3:Q"),
        base.mark_tick(color=INK, thickness=2, height=12).encode(x=place("median")),
        base.mark_point(shape="triangle-up", color=SERIES[1]).encode(x=place("mean")),
        outliers.mark_point(size=18, color=INK).encode(x=place("estimate"), y=_place_rows(data)),
    )
    return _finish(chart, "Occlusion impact", table, data, "triangles are means, dots outliers")


def _select(table: pl.DataFrame, metrics: list[str]) -> list[Row]:
    """Return the rows of some metrics, each with the name of its `line` in the figure."""
    rows = table.filter(table["metric"].is_in(metrics)).to_dicts()
    exams = {row["value"] for row in rows} - {""}
    return [row | {"line": _name(row)} for row in rows if row["value"] or len(exams) != 1]


def _name(row: Row) -> str:
    other = f" − {row['baseline']}" if "baseline" in row else f" (beside {row['beside']})"
    return f"{row['model']} · {row['setting']}{other} · {row['value'] or EVERY} (n = {row['n']})"


def _place_rows(rows: Sequence[Row]) -> alt.Y:
    return encode_names("line", list_distinct(rows, "line"))


def _finish(
    chart: Chart,
    title: str,
    table: pl.DataFrame,
    rows: Sequence[Row],
    *subtitle: str,
    step: int = 30,
) -> Chart:
    """Set size and title of a chart; the title is marked if it is simulated."""
    jointly_right = "over problems whose chosen option is right under both settings"
    height = step * len(list_distinct(rows, "line"))
    return finish(chart, title, jointly_right, *subtitle, of=table, height=height)
