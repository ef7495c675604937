"""How scores of models go together."""

from __future__ import annotations

import csv
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from tests.stages.analyze.conftest import Folders, study_values

from omibench.files.locations import find_shipped
from omibench.params.study import parse_study
from omibench.results.statistics.correlation import correlate
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.scatter_plots import draw_correlations

OTHERS = {"Strong": 70.0, "sim_middle": 41.0, "Weak": 30.5, "Another": 12.0}


def open_analysis(folders: Folders, **analyze: object) -> Analysis:
    study = parse_study(study_values(**analyze), "test")
    results = folders.load(study)
    return Analysis(study, results, folders.freeze.parent, folders.out / "report.html")


def write_scores(folder: Path, scores: Mapping[str, float], benchmark: str = "MMIU") -> Path:
    file = folder / "scores.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("model", "benchmark", "metric", "value", "source"))
        writer.writerows((model, benchmark, "acc", v, "leaderboard") for model, v in scores.items())
    return file


def find_row(analysis: Analysis, **values: object) -> Mapping[str, Any]:
    table = analysis.table("correlations")
    assert table is not None
    (row,) = table.filter(**values).to_dicts()
    return row


def test_our_metrics_go_together_over_models(made: Folders) -> None:
    analysis = open_analysis(made)
    table = analysis.table("model-scores")
    assert table is not None
    first, second = "sample: accuracy (robust)", "sample: GPTScore"
    values = [table.filter(series=name)["estimate"].to_list() for name in (first, second)]
    row = find_row(analysis, first=first, second=second, metric="pearson")
    expected = stats.pearsonr(*values)
    assert row["estimate"] == pytest.approx(expected.statistic, abs=1e-5)
    assert row["p"] == pytest.approx(expected.pvalue, abs=1e-5)
    assert (row["n"], row["simulated"]) == (3, True)
    assert set(table["setting"]) == {"cot"}


def test_other_benchmarks_stand_beside_ours(
    made: Folders, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(write_scores(tmp_path, OTHERS))
    with caplog.at_level(logging.WARNING, "omibench"):
        analysis = open_analysis(made, external_scores=path, reference_setting="direct")
        table = analysis.table("model-scores")
    assert table is not None
    others = table.filter(benchmark="MMIU")
    assert others["model"].to_list() == ["sim-strong", "sim-middle", "sim-weak", "Another"]
    assert others["source"].unique().to_list() == ["leaderboard"]
    assert "1 of 4 models" in caplog.text
    assert "'Another'" in caplog.text
    row = find_row(
        analysis, first="sample: accuracy (robust)", second="MMIU: acc", metric="spearman"
    )
    assert row["n"] == 3
    assert set(table.filter(benchmark="sample")["setting"]) == {"direct"}


def test_the_influence_of_single_models_is_named(made: Folders, tmp_path: Path) -> None:
    scores = {f"m{place}": float(place) for place in range(8)}
    other = {name: value if name != "m7" else -3.0 for name, value in scores.items()}
    file = write_scores(tmp_path, scores, "first")
    file.write_text(
        file.read_text("utf-8")
        + "".join(f"{model},second,acc,{value},\n" for model, value in other.items()),
        "utf-8",
    )
    row = find_row(
        open_analysis(made, external_scores=str(file)),
        first="first: acc",
        second="second: acc",
        metric="kendall",
    )
    expected = correlate(list(scores.values()), list(other.values()), "kendall")
    assert (row["most_influential"], row["without"]) == ("m7", 1.0)
    assert (row["low"], row["high"]) == pytest.approx(expected.interval, abs=1e-6)
    assert (row["resampled_low"], row["simulated"]) == (
        pytest.approx(expected.resampled.lo, abs=1e-6),
        False,
    )


def test_omibench_prints_another_correlation_than_its_table_gives(
    made: Folders, tmp_path: Path
) -> None:
    """OMIBench, table 2: Spearman's of total ACC and GPTScore is .921 (appendix J says .93)."""
    with (find_shipped("published") / "omibench_main.csv").open(encoding="utf-8") as file:
        printed = list(csv.DictReader(file))
    scores = tmp_path / "scores.csv"
    with scores.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("model", "benchmark", "metric", "value", "source"))
        for row in printed:
            for metric in ("acc", "gptscore"):
                if row[f"total_{metric}"]:
                    writer.writerow(
                        (row["model"], "OMIBench", metric, row[f"total_{metric}"], "table 2")
                    )
    row = find_row(
        open_analysis(made, external_scores=str(scores)),
        first="OMIBench: acc",
        second="OMIBench: gptscore",
        metric="spearman",
    )
    assert row["estimate"] == pytest.approx(0.921, abs=5e-4)
    assert row["low"] < 0.93 < row["high"]


def test_a_study_of_one_metric_has_no_correlations(made: Folders) -> None:
    analysis = open_analysis(made)
    results = analysis.results
    results.__dict__["rules"] = ["robust"]
    try:
        assert Analysis(analysis.study, results, made.out, made.out).table("correlations") is None
    finally:
        del results.__dict__["rules"]


def test_the_figure_shows_our_first_series_against_the_others(
    made: Folders, tmp_path: Path
) -> None:
    analysis = open_analysis(made, external_scores=str(write_scores(tmp_path, OTHERS)))
    table = analysis.table("model-scores")
    assert table is not None
    chart = draw_correlations(table)
    assert chart is not None
    text = chart.to_json()
    assert "MMIU: acc" in text
    assert "SIMULATED" in text
    assert draw_correlations(table.filter(series="MMIU: acc")) is None
