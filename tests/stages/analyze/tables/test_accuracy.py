"""The tables against plain counting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import SUBJECTS, Folders, make_published_study

from omibench.params.cell import Cell
from omibench.results.grouped import estimate_accuracy
from omibench.results.load import Results, load_results
from omibench.stages.analyze.tables.accuracy import (
    ALL_CELLS,
    TOTAL,
    failure_counts,
    image_scores,
    in_image_bin,
    score_records,
    scores,
)
from omibench.stages.analyze.tables.metrics import metrics
from omibench.statistics.intervals import clustered_wilson


@pytest.fixture(scope="module")
def results(made: Folders) -> Results:
    return load_results(made.freeze, made.infer, made.score, made.study)


def select(made: Folders, full: list[str] | None = None) -> Results:
    """The results, with `analyze.full_settings`."""
    block = made.study.analyze.model_copy(update={"full_settings": full})
    study = made.study.model_copy(update={"analyze": block})
    return load_results(made.freeze, made.infer, made.score, study)


def test_every_cell_scorer_and_subject_is_there(results: Results) -> None:
    found = {(s.cell, s.rules, s.subject) for s in scores(results)}
    assert found == {
        (cell, rules, subject)
        for cell in results.study.cells
        for rules in results.rules
        for subject in (TOTAL, *SUBJECTS)
    }


def test_scores_equal_plain_counts(results: Results, made: Folders) -> None:
    raw = pl.read_parquet(made.score / "sim-middle" / "direct.parquet").filter(rules="omibench")
    rows = {s.subject: s for s in scores(results) if s.cell == Cell("sim-middle", "direct")
            and s.rules == "omibench"}  # fmt: skip
    total = rows[TOTAL]
    assert total.acc.mean == pytest.approx(raw["verdict"].sum() / 28)
    failed = (raw["outcome"] != "scored").sum()
    assert total.failures is not None
    assert total.failures.failed == failed
    assert total.failures.as_wrong == pytest.approx(total.acc.mean)
    assert total.failures.as_right - total.acc.mean == pytest.approx(failed / 28)
    assert total.acc.mean == pytest.approx(sum(rows[s].acc.mean for s in SUBJECTS) / 4)


def test_bins_by_images_hold_every_problem_once(results: Results) -> None:
    rows = [s for s in image_scores(results) if s.rules == "robust"]
    assert {s.images for s in rows} == {"2", "3", "4", "5", "6+"}
    assert sum(s.acc.n for s in rows if s.cell == ALL_CELLS) == 28
    assert sum(s.acc.n for s in rows if s.cell == Cell("sim-weak", "cot")) == 28


def test_pooled_cells_count_a_problem_once(results: Results) -> None:
    pooled = next(s for s in image_scores(results) if s.cell == ALL_CELLS and s.images == "2")
    full = pl.col("setting") != "first-image"
    rows = results.select_verdicts("robust").filter(full, n_images=2)
    assert pooled.acc.n == sum(a.n_images == 2 for a in results.answers.values())
    assert pooled.acc.n < rows.height
    assert pooled.acc.mean == pytest.approx(rows["verdict"].mean())  # every cell answered all


def test_cells_that_are_shown_less_of_an_item_are_not_pooled(made: Folders) -> None:
    """First-image cells have fewer pictures whatever the problem has: no effect of its images."""
    assert select(made).pooled_settings == ["cot", "direct"]
    assert select(made, ["first-image"]).pooled_settings == ["first-image"]
    assert select(made, []).pooled_settings == ["cot"], "one setting, not all"
    for settings in (["direct"], ["first-image"]):
        results = select(made, settings)
        pooled = [s for s in image_scores(results) if s.cell == ALL_CELLS and s.rules == "robust"]
        for score in pooled:
            rows = in_image_bin(results.select_verdicts("robust"), score.images)
            rows = rows.filter(pl.col("setting").is_in(settings))
            assert score.acc.mean == pytest.approx(rows["verdict"].mean())


def test_samples_of_a_problem_are_averaged_before_the_interval() -> None:
    drawn = [("a", 1.0), ("a", 1.0), ("a", 1.0), ("a", 0.0), ("b", 0.0), ("c", 1.0)]
    rows = pl.DataFrame(
        {"id": [i for i, _ in drawn], "cluster": [i for i, _ in drawn],
         "verdict": [v for _, v in drawn]}
    )  # fmt: skip
    assert estimate_accuracy(rows, 0.95) == clustered_wilson([0.75, 0.0, 1.0], ["a", "b", "c"])
    assert estimate_accuracy(pl.concat([rows] * 8), 0.95) == estimate_accuracy(rows, 0.95)


def test_published_verdicts_take_their_failures_from_robust(tmp_path: Path) -> None:
    folders = make_published_study(tmp_path, robust=True)
    results = load_results(*folders[:3], folders.study)
    rows = {(s.cell, s.rules): s for s in scores(results) if s.subject == TOTAL}
    for cell in results.study.cells:
        published, robust = rows[cell, "published"].failures, rows[cell, "robust"].failures
        assert published is not None
        assert robust is not None
        assert published.failed == robust.failed
        assert published.as_wrong == pytest.approx(rows[cell, "published"].acc.mean)
        assert published.as_right - published.as_wrong <= robust.failed / 28 + 1e-9


def test_published_verdicts_alone_know_no_failures(tmp_path: Path) -> None:
    folders = make_published_study(tmp_path, robust=False)
    results = load_results(*folders[:3], folders.study)
    rows = scores(results)
    assert {s.rules for s in rows if s.failures is None} == {"published"}
    record = next(r for r in score_records(results, rows) if r["rules"] == "published")
    assert record["responses"] == 28
    assert (record["failures"], record["acc_failures_right"]) == (None, None)


def test_failures_are_counted_by_outcome(results: Results) -> None:
    rows = failure_counts(results)
    judged = results.select_verdicts("gptscore").filter(pl.col("outcome") == "judge_failed").height
    assert judged > 0
    assert sum(f.count for f in rows if f.outcome == "judge_failed") == judged
    assert sum(f.count for f in rows) == int(results.verdicts["failed"].sum())


def test_the_ratio_of_equation_6_is_averaged_beside_the_accuracy(results: Results) -> None:
    cell = Cell("sim-middle", "direct")
    by_ratio = pl.col("rules") == "omibench"
    half = pl.when(by_ratio & (pl.col("outcome") == "scored")).then(0.8 * pl.col("verdict"))
    printed = replace(results, verdicts=results.verdicts.with_columns(ratio=half))
    rows = {s.rules: s for s in scores(printed) if s.cell == cell and s.subject == TOTAL}
    with_ratio, without = rows["omibench"], rows["robust"]
    assert with_ratio.ratio == pytest.approx(0.8 * with_ratio.acc.mean)
    assert with_ratio.ratio
    assert without.ratio is None
    entry = metrics(printed, list(rows.values()))[cell.model][cell.setting]
    assert entry["ratios"] == {"omibench": round(with_ratio.ratio, 6)}
    records = {r["rules"]: r["ratio"] for r in score_records(printed, rows.values())}
    assert (records["omibench"], records["robust"]) == (entry["ratios"]["omibench"], None)
    before = metrics(results, scores(results))[cell.model][cell.setting]
    assert before == {key: value for key, value in entry.items() if key != "ratios"}


def test_strict_accuracy_stands_beside_the_loose_one(results: Results) -> None:
    """MathReal: the share of responses with all parts right, and the mean share of parts."""
    cell = Cell("sim-middle", "direct")
    scored = (pl.col("rules") == "omibench") & (pl.col("outcome") == "scored")
    half = pl.col("id").str.ends_with("0")
    verdicts = results.verdicts.with_columns(
        verdict=pl.when(scored & half).then(0.5).otherwise("verdict"),
        strict=pl.when(scored).then(pl.when(half).then(0.0).otherwise("verdict")),
    )
    parts = replace(results, verdicts=verdicts)
    rows = {s.rules: s for s in scores(parts) if s.cell == cell and s.subject == TOTAL}
    mine = parts.select_verdicts("omibench", cell)
    all_right = [float(v == 1) for v in mine["verdict"]]
    assert rows["omibench"].strict == clustered_wilson(all_right, mine["cluster"].to_list(), 0.95)
    assert rows["omibench"].acc.mean > rows["omibench"].strict.mean
    assert rows["robust"].strict is None
    entry = metrics(parts, list(rows.values()))[cell.model][cell.setting]
    assert entry["strict"] == {"omibench": round(rows["omibench"].strict.mean, 6)}
    records = {r["rules"]: r for r in score_records(parts, rows.values())}
    assert records["omibench"]["strict"] == entry["strict"]["omibench"]
    assert records["omibench"]["strict_lo"] < records["omibench"]["strict_hi"]
    assert records["robust"]["strict"] is None
    assert "strict" not in metrics(results, scores(results))[cell.model][cell.setting]


def test_records_are_shares_with_six_digits(results: Results) -> None:
    for record in score_records(results, scores(results)):
        assert 0 <= record["lo"] <= record["acc"] <= record["hi"] <= 1
        assert record["acc"] == round(record["acc"], 6)
        assert record["simulated"] is True
