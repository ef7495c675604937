"""The figures of saliency are drawn from its tables alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages.analyze.results.saliency_study import open_saliency_study

from omibench.stages.analyze.figures.figure import FIGURES
from omibench.stages.analyze.figures.theme import apply_theme, describe_chart, render_specification

NAMES = ("saliency-confidence", "saliency-gains", "saliency-wins", "saliency-impact")


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_shows_the_rows_of_its_table(tmp_path: Path, name: str) -> None:
    analysis, figure = open_saliency_study(tmp_path), FIGURES.get(name)
    table = analysis.table(figure.table)
    assert table is not None
    chart = figure.draw(table)
    assert chart is not None
    specification = describe_chart(chart)
    svg = render_specification(specification)
    assert "SIMULATED" in svg
    assert "local" in svg
    apply_theme(svg, "A figure")
    rows = [row for rows in specification["datasets"].values() for row in rows]
    assert {row["row"].split(" · ")[-1] for row in rows} == {
        "all (n = 4)", "local (n = 2)", "national (n = 2)",
    }  # fmt: skip
    assert figure.draw(table.filter(metric="none")) is None
