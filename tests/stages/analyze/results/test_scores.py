"""Scores, bounds, numbers of images and outcomes against plain counting, and the files of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import polars as pl
import pytest
from tests.stages.analyze.conftest import (
    SUBJECTS,
    Folders,
    analysis_of,
    make_params,
    make_published_study,
    make_study,
    repeat_samples,
    rewrite_cells,
)

from omibench.params.setting import Cell
from omibench.results.grouped import estimate_accuracy
from omibench.results.load import Results
from omibench.results.statistics.intervals import clustered_wilson
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.csv_files import describe_metrics, pivot_result
from omibench.stages.analyze.findings import find_cell
from omibench.stages.analyze.results.accuracy import TOTAL


@pytest.fixture(scope="module")
def results(made: Folders) -> Results:
    return made.load()


def select(made: Folders, full: list[str] | None = None) -> Results:
    """The results, with `analyze.full_settings`."""
    return made.load(make_params(full_settings=full))


def test_every_cell_scorer_and_subject_is_there(results: Results) -> None:
    scores = analysis_of(results).scores
    found = {(find_cell(s), s["rules"], s["subject"]) for s in scores.to_dicts()}
    assert found == {
        (cell, rules, subject)
        for cell in results.study.cells
        for rules in results.rules
        for subject in (TOTAL, *SUBJECTS)
    }


def test_scores_equal_plain_counts(results: Results, made: Folders) -> None:
    raw = pl.read_parquet(made.score / "sim-middle" / "direct.parquet").filter(rules="omibench")
    scores = analysis_of(results).scores
    mine = scores.filter(model="sim-middle", setting="direct", rules="omibench")
    rows = {row["subject"]: row for row in mine.to_dicts()}
    total = rows[TOTAL]
    assert total["estimate"] == pytest.approx(raw["verdict"].sum() / 28)
    failed = (raw["outcome"] != "scored").sum()
    assert total["failures"] == failed
    assert total["failures_right"] - total["estimate"] == pytest.approx(failed / 28)
    assert total["estimate"] == pytest.approx(sum(rows[s]["estimate"] for s in SUBJECTS) / 4)


def test_each_group_is_what_it_is_alone(tmp_path: Path) -> None:
    """Several samples of items in clusters, partial credit that a scorer gives only at times."""
    folders = make_study(tmp_path, per_subject=4)
    draw = Random(5)

    def repeat(frame: pl.DataFrame) -> pl.DataFrame:
        grown = repeat_samples(frame, 3)
        if "rules" not in grown.columns:
            return grown
        right = [float(draw.random() < 0.4) for _ in range(grown.height)]
        half = [0.5 * v if draw.random() < 0.8 else None for v in right]
        given = pl.col("rules") == "omibench"
        values = pl.Series("half", half, pl.Float64)
        return grown.with_columns(
            pl.Series("verdict", right), credit=pl.when(given).then(values),
            strict=pl.when(given).then(2 * values), ratio=pl.when(given).then(values),
        )  # fmt: skip

    rewrite_cells(folders, repeat)
    results = folders.load()
    verdicts, confidence = results.counting_verdicts, 0.95
    for row in analysis_of(results).scores.to_dicts():
        part = verdicts.filter(
            model=row["model"], setting=row["setting"], rules=row["rules"]
        ).filter((pl.col("subject") == row["subject"]) | pl.lit(row["subject"] == TOTAL))
        alone = estimate_accuracy(part, confidence)
        found = (row["estimate"], row["low"], row["high"], row["n"], row["n_eff"])
        assert found == pytest.approx(alone)
        assert (row["responses"], row["failures"]) == (part.height, part["failed"].sum())
        upper = part.with_columns(
            verdict=pl.max_horizontal("verdict", pl.col("failed").cast(float))
        )
        assert row["failures_right"] == pytest.approx(estimate_accuracy(upper, confidence).mean)
        if row["rules"] != "omibench":
            assert (row["credit"], row["ratio"], row["strict"]) == (None, None, None)
            continue
        credit = part.with_columns(verdict=pl.coalesce("credit", "verdict"))
        assert row["credit"] == pytest.approx(estimate_accuracy(credit, confidence).mean)
        strict = part.with_columns(verdict=pl.coalesce("strict", 0.0))
        shown = (row["strict"], row["strict_low"], row["strict_high"])
        assert shown == pytest.approx(estimate_accuracy(strict, confidence)[:3])


def test_bins_by_images_hold_every_problem_once(results: Results) -> None:
    rows = analysis_of(results).rows("accuracy-by-images").filter(rules="robust")
    assert set(rows["value"]) == {"2", "3", "4", "5", "6+"}
    assert rows.filter(model="")["n"].sum() == 28
    assert rows.filter(model="sim-weak", setting="")["n"].sum() == 28
    assert rows.filter(model="sim-weak", setting="cot")["n"].sum() == 28


def test_pooled_cells_count_a_problem_once(results: Results) -> None:
    rows = analysis_of(results).rows("accuracy-by-images")
    (pooled,) = rows.filter(model="", rules="robust", value="2").to_dicts()
    full = pl.col("setting") != "first-image"
    verdicts = results.select_verdicts("robust").filter(full, n_images=2)
    assert pooled["n"] == sum(a.n_images == 2 for a in results.answers.values())
    assert pooled["n"] < verdicts.height
    assert pooled["estimate"] == pytest.approx(verdicts["verdict"].mean())  # all answered all
    for row in rows.filter(pl.col("model") != "", setting="", rules="robust").to_dicts():
        own = results.select_verdicts("robust").filter(full, model=row["model"])
        bins = pl.col("n_images").clip(upper_bound=6).cast(pl.String).replace("6", "6+")
        mean = own.filter(bins == row["value"])["verdict"].mean()
        assert row["estimate"] == pytest.approx(mean)


def test_pooled_cells_have_equal_weights(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2)

    expected = analysis_of(folders.load()).rows("accuracy-by-images")
    rewrite_cells(folders, lambda frame: repeat_samples(frame, 4), Cell("sim-weak", "cot"))
    found = analysis_of(folders.load()).rows("accuracy-by-images")
    pooled = [t.filter(model="", rules="robust")["estimate"].to_list() for t in (expected, found)]
    assert pooled[0] == pytest.approx(pooled[1])


def test_cells_that_are_shown_less_of_an_item_are_not_pooled(made: Folders) -> None:
    """First-image cells have fewer pictures whatever the problem has: no effect of its images."""
    assert select(made).pooled_settings == ["cot", "direct"]
    assert select(made, ["first-image"]).pooled_settings == ["first-image"]
    assert select(made, []).pooled_settings == ["cot"], "one setting, not all"
    for settings in (["direct"], ["first-image"]):
        results = select(made, settings)
        pooled = analysis_of(results).rows("accuracy-by-images").filter(model="", rules="robust")
        rows = results.select_verdicts("robust").filter(pl.col("setting").is_in(settings))
        mean = (pooled["estimate"] * pooled["n"]).sum() / pooled["n"].sum()
        assert mean == pytest.approx(rows["verdict"].mean())


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
    results = folders.load()
    totals = analysis_of(results).scores.filter(subject=TOTAL).to_dicts()
    rows = {(find_cell(row), row["rules"]): row for row in totals}
    for cell in results.study.cells:
        published, robust = rows[cell, "published"], rows[cell, "robust"]
        assert published["failures"] == robust["failures"] is not None
        moved = published["failures_right"] - published["estimate"]
        assert moved <= robust["failures"] / 28 + 1e-9


def test_published_verdicts_alone_know_no_failures(tmp_path: Path) -> None:
    folders = make_published_study(tmp_path, robust=False)
    analysis = analysis_of(folders.load())
    assert set(analysis.scores.filter(pl.col("failures").is_null())["rules"]) == {"published"}
    record = next(r for r in pivot_result(analysis, "main") or () if r["rules"] == "published")
    assert record["responses"] == 28
    assert (record["failures"], record["acc_failures_right"]) == (None, None)
    assert record["acc_failures_wrong"] is None


def test_responses_are_counted_by_outcome(results: Results) -> None:
    rows = analysis_of(results).rows("outcomes")
    judged = results.select_verdicts("gptscore").filter(pl.col("outcome") == "judge_failed").height
    assert judged > 0
    assert rows.filter(value="judge_failed")["count"].sum() == judged
    failed = rows.filter(pl.col("value").is_in(FAILURES))
    assert failed["count"].sum() == int(results.verdicts["failed"].sum())
    right = rows.filter(rules="robust", value="right")["count"].sum()
    assert right == results.select_verdicts("robust")["verdict"].sum()
    assert rows.group_by("model", "setting", "rules").agg(pl.col("estimate").sum())[
        "estimate"
    ].to_list() == pytest.approx([1.0] * 36)


def test_the_ratio_of_equation_6_is_averaged_beside_the_accuracy(results: Results) -> None:
    cell = Cell("sim-middle", "direct")
    by_ratio = pl.col("rules") == "omibench"
    half = pl.when(by_ratio & (pl.col("outcome") == "scored")).then(0.8 * pl.col("verdict"))
    printed = analysis_of(replace(results, verdicts=results.verdicts.with_columns(ratio=half)))
    mine = printed.scores.filter(model=cell.model, setting=cell.setting, subject=TOTAL)
    rows = {row["rules"]: row for row in mine.to_dicts()}
    assert rows["omibench"]["ratio"] == pytest.approx(0.8 * rows["omibench"]["estimate"])
    assert rows["omibench"]["ratio"]
    assert rows["robust"]["ratio"] is None
    entry = describe_metrics(printed)[cell.model][cell.setting]
    assert entry["ratios"] == {"omibench": round(rows["omibench"]["ratio"], 6)}
    before = describe_metrics(analysis_of(results))[cell.model][cell.setting]
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
    analysis = analysis_of(parts)
    mine = analysis.scores.filter(model=cell.model, setting=cell.setting, subject=TOTAL)
    rows = {row["rules"]: row for row in mine.to_dicts()}
    part = parts.select_verdicts("omibench", cell)
    all_right = [float(v == 1) for v in part["verdict"]]
    expected = clustered_wilson(all_right, part["cluster"].to_list(), 0.95)
    found = rows["omibench"]
    assert (found["strict"], found["strict_low"], found["strict_high"]) == pytest.approx(
        expected[:3]
    )
    assert found["estimate"] > found["strict"]
    assert rows["robust"]["strict"] is None
    entry = describe_metrics(analysis)[cell.model][cell.setting]
    assert entry["strict"] == {"omibench": round(found["strict"], 6)}
    assert "strict" not in describe_metrics(analysis_of(results))[cell.model][cell.setting]


def test_records_are_shares_with_six_digits(results: Results) -> None:
    for record in pivot_result(analysis_of(results), "main") or ():
        assert 0 <= record["lo"] <= record["acc"] <= record["hi"] <= 1
        assert record["acc"] == round(record["acc"], 6)
        assert record["simulated"] is True
