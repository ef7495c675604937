"""Figure 7b to e of USNCO-V: confidence, gains, the more confident setting, and impact, by exam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from omibench.stages.analyze.figures.chart_parts import (
    embed_data,
    encode_colour,
    finish,
    list_distinct,
)
from omibench.stages.analyze.figures.figure import FIGURES, figure
from omibench.stages.analyze.figures.findings import count_gains
from omibench.stages.analyze.figures.theme import GRID, INK, SERIES, Chart
from omibench.stages.analyze.results.saliency import BIN_WIDTH

if TYPE_CHECKING:
    import polars as pl

STEP, HISTOGRAM_HEIGHT = 30, 90
EVERY = "all"
"""The name of the row over all exams."""
OUTCOMES = {"win": "surer", "tie": "equal within 0.001 nats", "loss": "less sure"}
_JOINTLY_RIGHT = "over problems whose chosen option is right under both settings"
_BAR_ROOM, _LABEL_ROOM = 0.8, 320


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
    names = list_distinct(data, "shown")
    base = alt.Chart(embed_data(data)).encode(y=_rows(data), yOffset="shown:N")
    nats = "Mean log P of the chosen option, nats"
    lines = base.mark_rule().encode(x=alt.X("low:Q", title=nats), x2="high:Q")
    points = base.mark_point().encode(
        x=alt.X("estimate:Q", title=nats), color=encode_colour("shown", names, "Setting")
    )
    subtitle = "lines are intervals; nearer to 0 is more confident"
    return _finish(
        alt.layer(lines, points),
        "saliency-confidence",
        table,
        STEP * len(list_distinct(data, "row")),
        subtitle,
    )


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
    names, highest = list_distinct(rows, "row"), max((row["estimate"] for row in rows), default=0.0)
    if not rows:
        return None
    data = [
        row
        | {
            "left": row["bin_high"] - BIN_WIDTH if row["bin_low"] is None else row["bin_low"],
            "right": row["bin_low"] + BIN_WIDTH if row["bin_high"] is None else row["bin_high"],
            "bottom": (bottom := len(names) - 1 - names.index(row["row"])),
            "top": bottom + _BAR_ROOM * row["estimate"] / highest,
        }
        for row in rows
    ]
    labels = [
        {"left": min(row["left"] for row in data), "top": len(names) - 0.08 - n, "row": name}
        for n, name in enumerate(names)
    ]
    scale = alt.Scale(domain=[0, len(names)], nice=False)
    y = alt.Y("bottom:Q", scale=scale, axis=None)
    bars = (
        alt.Chart(embed_data(data))
        .mark_bar(color=SERIES[0], stroke=GRID)
        .encode(x=alt.X("left:Q", title="Gain in log P, nats"), x2="right:Q", y=y, y2="top:Q")
    )
    text = (
        alt.Chart(embed_data(labels))
        .mark_text(align="left", color=INK)
        .encode(x="left:Q", y=alt.Y("top:Q", scale=scale, axis=None), text="row:N")
    )
    subtitle = f"the highest bar has {100 * highest:.0f} % of its problems; outer bars are open"
    return _finish(
        alt.layer(bars, text), "saliency-gains", table, HISTOGRAM_HEIGHT * len(names), subtitle
    )


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
    order = list(OUTCOMES)
    data = [
        row
        | {"share": 100 * row["estimate"], "outcome": OUTCOMES[row["metric"]],
           "order": order.index(row["metric"])}
        for row in _select(table, order)
    ]  # fmt: skip
    if not data:
        return None
    bars = (
        alt.Chart(embed_data(data))
        .mark_bar(height=14)
        .encode(
            y=_rows(data),
            x=alt.X("share:Q", stack="zero", title="Problems, %"),
            order=alt.Order("order:Q"),
            color=encode_colour("outcome", list(OUTCOMES.values()), "The first setting is"),
        )
    )
    return _finish(alt.layer(bars), "saliency-wins", table, STEP * len(list_distinct(data, "row")))


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
    boxes: dict[str, dict[str, Any]] = {}
    for row in data:
        if row["metric"] != "outlier":
            boxes.setdefault(row["row"], {"row": row["row"]})[row["metric"]] = row["estimate"]
    if not boxes:
        return None
    base = alt.Chart(embed_data(list(boxes.values()))).encode(y=_rows(data))
    nats = "Occlusion impact, nats"
    whiskers = base.mark_rule().encode(x=alt.X("whisker_low:Q", title=nats), x2="whisker_high:Q")
    box = base.mark_bar(height=12, color=SERIES[4]).encode(x=alt.X("q1:Q", title=nats), x2="q3:Q")
    median = base.mark_tick(color=INK, thickness=2, height=12).encode(
        x=alt.X("median:Q", title=nats)
    )
    mean = base.mark_point(shape="triangle-up", color=SERIES[1]).encode(
        x=alt.X("mean:Q", title=nats)
    )
    dots = (
        alt.Chart(embed_data([row for row in data if row["metric"] == "outlier"]))
        .mark_point(size=18, color=INK)
        .encode(x=alt.X("estimate:Q", title=nats), y=_rows(data))
    )
    layers = alt.layer(whiskers, box, median, mean, dots)
    return _finish(
        layers, "saliency-impact", table, STEP * len(boxes), "triangles are means, dots outliers"
    )


def _select(table: pl.DataFrame, metrics: list[str]) -> list[dict[str, Any]]:
    """Return the rows of some metrics, each with the name of its `row` in the figure."""
    rows = table.filter(table["metric"].is_in(metrics)).rows(named=True)
    exams = {row["value"] for row in rows} - {""}
    return [row | {"row": _name(row)} for row in rows if row["value"] or len(exams) != 1]


def _name(row: dict[str, Any]) -> str:
    other = f" − {row['baseline']}" if "baseline" in row else f" (beside {row['beside']})"
    return f"{row['model']} · {row['setting']}{other} · {row['value'] or EVERY} (n = {row['n']})"


def _rows(data: list[dict[str, Any]]) -> alt.Y:
    names = list_distinct(data, "row")
    axis = alt.Axis(labelLimit=_LABEL_ROOM)
    return alt.Y("row:N", title=None, sort=names, scale=alt.Scale(domain=names), axis=axis)


def _finish(layers: Chart, name: str, table: pl.DataFrame, height: int, *subtitle: str) -> Chart:
    """Set size and title of a chart; the title is marked if it is simulated."""
    title, is_simulated = FIGURES.get(name).title, bool(table["simulated"].any())
    return finish(layers, title, _JOINTLY_RIGHT, *subtitle, height=height, simulated=is_simulated)
