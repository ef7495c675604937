"""Confidence, gains, impacts and maps of two settings (USNCO-V, figure 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.conftest import table_of
from tests.stages.analyze.results.saliency_study import open_saliency_study

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.csv_files import pivot_result
from omibench.stages.analyze.formatting import format_decimals
from omibench.stages.analyze.pages import render_section
from omibench.stages.analyze.sections.saliency import SaliencySection


@pytest.fixture
def analysis(tmp_path: Path) -> Analysis:
    return open_saliency_study(tmp_path)


def read(analysis: Analysis, name: str, **place: Any) -> dict[str, Any]:
    """Metric -> estimate of the rows of one place."""
    table = table_of(analysis, name)
    assert table["simulated"].all()
    rows = table.filter(**place)
    return dict(rows.select("metric", "estimate").iter_rows())


def test_gains_are_over_what_is_right_under_both(analysis: Analysis) -> None:
    gains = read(analysis, "saliency-gains", setting="cot", baseline="direct", value="")
    assert gains["logprob"] == pytest.approx((-0.1 - 0.4005 - 0.3 - 0.25) / 4, abs=1e-6)
    assert gains["logprob_baseline"] == pytest.approx(-0.5)
    assert gains["gain"] == pytest.approx((0.4 - 0.0005 + 0.6 - 0.05) / 4, abs=1e-6)
    assert gains["gain_median"] == pytest.approx((0.4 - 0.0005) / 2, abs=1e-6)
    assert (gains["win"], gains["tie"], gains["loss"]) == (0.5, 0.25, 0.25)
    table = table_of(analysis, "saliency-gains")
    assert table.filter(metric="win")["n"].to_list() == [4, 2, 2]
    assert table.filter(metric="win")["clusters"].to_list() == [3, 1, 2]
    assert table.filter(metric="win")["value"].to_list() == ["", "local", "national"]
    assert table["setting"].unique().to_list() == ["cot"]


def test_without_a_declared_baseline_a_setting_is_compared_with_those_before_it(
    tmp_path: Path,
) -> None:
    table = table_of(open_saliency_study(tmp_path, baseline=None), "saliency-gains")
    assert table.select("setting", "baseline").unique().rows() == [("direct", "cot")]


def test_bars_count_every_problem_once(analysis: Analysis) -> None:
    table = table_of(analysis, "saliency-gain-histogram")
    every = table.filter(value="")
    assert every["count"].sum() == 4
    assert every["estimate"].sum() == pytest.approx(1)
    bars = dict(every.select("bin_low", "count").iter_rows())
    assert bars == {-0.1: 2, 0.4: 1, 0.6: 1}
    assert (every["bin_high"] - every["bin_low"]).to_list() == pytest.approx([0.1] * 3)


def test_boxes_have_outliers_apart(analysis: Analysis) -> None:
    place = {"setting": "direct", "beside": "cot", "value": ""}
    box = read(analysis, "saliency-impact", **place)
    assert box["outlier"] == 2.5
    assert (box["median"], box["whisker_high"]) == (0.25, 0.25)
    assert box["mean"] == pytest.approx((2.5 + 3 * 0.25) / 4)
    table = table_of(analysis, "saliency-impact")
    assert table.filter(metric="outlier", value="")["id"].to_list() == ["l1"]
    assert "outlier" not in read(analysis, "saliency-impact", setting="cot", value="")


def test_maps_are_of_a_problem_that_the_other_setting_gets_right(analysis: Analysis) -> None:
    table = table_of(analysis, "saliency-maps")
    assert set(table["id"]) == {"n3"}
    assert table.select("panel", "setting", "option").rows() == [
        ("f", "direct", "B"), ("g", "direct", "A"), ("h", "cot", "B"),
    ]  # fmt: skip
    assert table["file"][1] == "saliency/sim-weak/direct/n3-0-A.png"
    assert table["estimate"].to_list() == [0.25, 0.125, 0.25]


def test_places_that_an_endpoint_does_not_tell_are_counted(tmp_path: Path) -> None:
    analysis = open_saliency_study(tmp_path)
    file = tmp_path / "saliency/sim-weak/cot.parquet"
    rows = pl.read_parquet(file)
    gone = (pl.col("id") == "n1") & (pl.col("x") == 28) & (pl.col("option") == "B")
    rows.filter(~gone).write_parquet(file)
    hidden = {s.cell.setting: s.hidden for s in analysis.saliences}
    assert hidden == {"cot": 1, "direct": 0}


def test_the_csv_file_and_the_card_are_views_of_the_result(analysis: Analysis) -> None:
    table = table_of(analysis, "saliency")
    records = pivot_result(analysis, "saliency")
    assert records is not None
    assert [row["impact_mean"] for row in records] == table["estimate"].to_list()
    assert list(records[0])[:6] == ["model", "label", "group", "setting", "reading", "max_pixels"]
    vars(analysis.results)["simulated_cells"] = dict.fromkeys(analysis.results.study.cells, True)
    section = SaliencySection(analysis)
    (file,) = section.tables()
    view = section.view()
    assert view is not None
    html = render_section(section.template, section=section, view=view, figure=None, page={})
    assert "<th>Impact, mean</th>" in html
    for row in file.rows:
        shown = format_decimals(row["impact_mean"], 3)
        assert f"<td>{shown}</td>" in html
