"""Figures of comparisons are drawn from their tables alone, in colours of the theme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.stages.analyze.results.comparisons.studies import (
    draw_verdicts,
    make_items,
    write_analysis,
)

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.figure import FIGURES
from omibench.stages.analyze.figures.theme import apply_theme, describe_chart, render_specification

COUNT = 40
SHARES = {
    (model, setting): 0.1 + 0.2 * place + 0.1 * step
    for place, model in enumerate(("a", "b", "sim-c"))
    for step, setting in enumerate(("blind", "direct", "cot"))
}


def open_study(folder: Path, **analyze: Any) -> Analysis:
    items = make_items(
        COUNT,
        pair=["real", "clean"] * (COUNT // 2),
        noise=[["blur"] if i % 4 == 0 else ["rotation"] for i in range(COUNT)],
    )
    return write_analysis(folder, items, draw_verdicts(SHARES, items), **analyze)


def draw(analysis: Analysis, name: str) -> tuple[list[dict[str, Any]], str] | None:
    """The data of a figure and its SVG text."""
    figure = FIGURES.get(name)
    table = analysis.table(figure.table)
    chart = None if table is None else figure.draw(table)
    if chart is None:
        return None
    specification = describe_chart(chart)
    svg = render_specification(specification)
    apply_theme(svg, "A figure")
    return [row for rows in specification["datasets"].values() for row in rows], svg


@pytest.mark.parametrize(
    ("name", "rows"),
    [("dumbbell", 12), ("deltas", 12), ("drops", 12), ("real-clean", 18), ("real-clean-noise", 18),
     ("ranks", 3)],
)  # fmt: skip
def test_every_comparison_of_a_study_is_drawn(tmp_path: Path, name: str, rows: int) -> None:
    baselines = {"settings": {"cot": "direct", "blind": "direct"}}
    drawing = draw(open_study(tmp_path, baselines=baselines, slices=["subject"]), name)
    assert drawing is not None
    data, svg = drawing
    assert len([row for row in data if "zero" not in row]) == rows
    assert "SIMULATED" in svg
    assert "sim-c" in svg


def test_models_are_drawn_where_no_setting_has_a_baseline(tmp_path: Path) -> None:
    analysis = open_study(tmp_path, baselines={"models": {"b": "a"}}, slices=[])
    assert draw(analysis, "dumbbell") is None
    assert draw(analysis, "drops") is None
    drawing = draw(analysis, "deltas")
    assert drawing is not None
    data = [row for row in drawing[0] if "zero" not in row]
    assert {row["pair"] for row in data} == {"b vs a"}
    assert all(row["points"] == pytest.approx(100 * row["estimate"]) for row in data)


def test_one_setting_alone_needs_no_heat_map(tmp_path: Path) -> None:
    analysis = open_study(tmp_path, baselines={"settings": {"cot": "direct"}})
    assert draw(analysis, "drops") is None
    drawing = draw(analysis, "dumbbell")
    assert drawing is not None
    assert "Accuracy: cot vs direct" in drawing[1]
