"""What a problem costs: sums over samples, means over problems, nothing where it is not known."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, make_study
from tests.stages.analyze.results.test_chance import open_analysis

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.scatter_plots import (
    count_frontier,
    draw_costs,
    find_frontier,
    pick_cost,
)

SPENT = ("cost_usd", "input_tokens", "output_tokens", "latency_s")


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return open_analysis(make_study(tmp_path_factory.mktemp("costs")))


def spend(analysis: Analysis, **values: pl.Expr | float | None) -> Analysis:
    """The analysis with other costs of its responses."""
    responses = analysis.results.responses.with_columns(
        **{name: values.get(name, pl.lit(None, dtype=pl.Float64)) for name in SPENT},
        reasoning_tokens=pl.lit(None, dtype=pl.Int64),
    )
    results = replace(analysis.results, responses=responses)
    return Analysis(analysis.study, results, analysis.folder, analysis.report)


def test_all_samples_of_a_problem_are_paid_for(analysis: Analysis) -> None:
    twice = spend(analysis, cost_usd=pl.lit(0.25), output_tokens=pl.lit(10))
    responses = twice.results.responses.cast({"index": pl.Int64})
    doubled = replace(
        twice.results,
        responses=pl.concat([responses, responses.with_columns(index=pl.lit(1, dtype=pl.Int64))]),
    )
    table = Analysis(twice.study, doubled, twice.folder, twice.report).table("accuracy-by-cost")
    assert table is not None
    assert table.height == 9
    assert set(table["dollars"]) == {0.5}
    assert set(table["output_tokens"]) == {20}
    assert set(table["total_dollars"]) == {0.5 * 28}
    row = table.row(0, named=True)
    assert row["dollars_per_right"] == pytest.approx(14 / (row["estimate"] * 28), abs=1e-4)


def test_a_response_that_does_not_say_makes_the_cost_of_its_cell_unknown(
    analysis: Analysis,
) -> None:
    is_silent = (pl.col("model") == "sim-weak") & (pl.col("id") == "biology_00")
    cost = pl.when(~is_silent).then(0.5)
    table = spend(analysis, cost_usd=cost, output_tokens=pl.lit(3)).table("accuracy-by-cost")
    assert table is not None
    unknown = table.filter(pl.col("dollars").is_null())
    assert set(unknown["model"]) == {"sim-weak"}
    assert pick_cost(table) == "output_tokens"


def test_without_any_cost_there_is_no_table(analysis: Analysis) -> None:
    assert spend(analysis).table("accuracy-by-cost") is None


def test_the_frontier_holds_what_no_other_beats() -> None:
    points = [(3.0, 0.5), (1.0, 0.2), (2.0, 0.2), (1.0, 0.1), (4.0, 0.5)]
    assert find_frontier(points) == [1, 0]


def test_a_free_model_is_not_compared_in_dollars(analysis: Analysis) -> None:
    free = spend(analysis, cost_usd=pl.lit(0.0), output_tokens=pl.col("input_tokens"))
    table = free.table("accuracy-by-cost")
    assert table is not None
    assert pick_cost(table) is None
    assert draw_costs(table) is None
    assert count_frontier(table) is None


def test_the_sentence_says_that_nothing_was_tested(analysis: Analysis) -> None:
    table = spend(
        analysis, output_tokens=pl.col("id").rank("dense") + pl.col("model").rank("dense")
    ).table("accuracy-by-cost")
    assert table is not None
    found = count_frontier(table)
    assert found is not None
    assert found.endswith("these are point estimates, and were not tested.")
    chart = draw_costs(table)
    assert chart is not None
    lines = chart.to_dict()["title"]["subtitle"]
    assert lines[1].startswith("1 ")


def test_the_report_has_a_part_on_cost(reported: Folders) -> None:
    page = (reported.out / "report.html").read_text("utf-8")
    assert 'id="part-cost"' in page
    assert page.index('id="part-failures"') < page.index('id="part-cost"')
