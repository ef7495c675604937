"""Differences to declared baselines are those of each pair of cells; Holm is over their family."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from statsmodels.stats.multitest import multipletests
from tests.stages.analyze.results.comparisons.studies import (
    draw_verdicts,
    make_items,
    write_analysis,
)

from omibench.results.statistics.paired import (
    bootstrap_difference,
    compare_sums,
    paired_difference,
    sum_pairs,
)

ITEMS = make_items(40, exam=["local"] * 25 + ["national"] * 15)
SHARES = {
    ("a", "direct"): 0.4, ("a", "cot"): 0.8, ("a", "blind"): 0.2,
    ("sim-b", "direct"): 0.3, ("sim-b", "cot"): 0.35,
}  # fmt: skip
DECLARED = {"settings": {"cot": "direct", "blind": "direct"}, "models": {"sim-b": "a"}}


@pytest.mark.parametrize("samples", [1, 3])
def test_each_difference_is_that_of_its_items(tmp_path: Path, samples: int) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS, samples)
    analysis = write_analysis(
        tmp_path, ITEMS, verdicts, samples, baselines=DECLARED, slices=["exam"]
    )
    table = analysis.table("baselines")
    assert table is not None
    rows = table.filter(measure="accuracy", kind="setting", slice="exam").to_dicts()
    assert {(r["model"], r["setting"], r["value"]) for r in rows} == {
        (model, setting, exam)
        for model, setting in (("a", "cot"), ("a", "blind"), ("sim-b", "cot"))
        for exam in ("local", "national")
    }
    p_values = []
    for row in rows:
        part = [item for item in ITEMS if item.attributes["exam"] == row["value"]]
        first, second = (
            [sum(verdicts[row["model"], setting][item.id]) / samples for item in part]
            for setting in (row["setting"], "direct")
        )
        groups = [item.group for item in part]
        expected = paired_difference(first, second, groups)
        assert (row["estimate"], row["low"], row["high"], row["n"]) == pytest.approx(
            tuple(expected), abs=2e-6
        )
        tests = compare_sums(sum_pairs(first, second, groups), alpha=0.05 / 6)
        assert row["p"] == pytest.approx(tests.p[0], abs=2e-6)
        assert row["score"] - row["baseline_score"] == pytest.approx(row["estimate"], abs=2e-6)
        assert row["relative"] == pytest.approx(row["estimate"] / row["baseline_score"], abs=1e-4)
        if row["detectable"] is not None:
            assert row["detectable"] == pytest.approx(tests.detectable[0], abs=2e-6)
        p_values.append(tests.p[0])
    adjusted = multipletests(p_values, method="holm")[1]
    assert [row["p_holm"] for row in rows] == pytest.approx(list(adjusted), abs=2e-6)
    assert {row["family"] for row in rows} == {6}
    assert all((row["p_holm"] < 0.05) == (row["detectable"] is None) for row in rows)


def test_either_side_that_is_simulated_marks_the_comparison(tmp_path: Path) -> None:
    analysis = write_analysis(tmp_path, ITEMS, draw_verdicts(SHARES, ITEMS), baselines=DECLARED)
    table = analysis.table("baselines")
    assert table is not None
    marks = {(r["model"], r["kind"]): r["simulated"] for r in table.filter(slice="").to_dicts()}
    assert marks == {("a", "setting"): False, ("sim-b", "setting"): True, ("sim-b", "model"): True}


def test_strict_accuracy_is_compared_beside_the_loose_one(tmp_path: Path) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS)
    for by_item in verdicts.values():
        by_item["p0"] = [0.5]
    analysis = write_analysis(tmp_path, ITEMS, verdicts, baselines=DECLARED)
    table = analysis.table("baselines")
    assert table is not None
    scores = table.filter(pl.col("slice") == "", kind="setting", model="a", setting="cot")
    assert dict(scores.select("measure", "n").iter_rows()) == {"accuracy": 40, "strict": 40}
    assert scores["baseline_score"].n_unique() == 2


def test_the_bootstrap_is_made_on_request(tmp_path: Path) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS, 3)
    analysis = write_analysis(
        tmp_path, ITEMS, verdicts, 3, baselines={**DECLARED, "resamples": 400}
    )
    table = analysis.table("baselines")
    assert table is not None
    drawn = table.drop_nulls("bootstrap_p")
    assert set(drawn["slice"]) == {""}
    assert drawn.height == table.filter(slice="").height == 10
    (row,) = drawn.filter(model="a", setting="cot", measure="accuracy").to_dicts()
    differences = [
        (sum(verdicts["a", "cot"][item.id]) - sum(verdicts["a", "direct"][item.id])) / 3
        for item in ITEMS
    ]
    expected = bootstrap_difference(differences, [item.group for item in ITEMS], resamples=400)
    assert (row["bootstrap_low"], row["bootstrap_high"], row["bootstrap_p"]) == pytest.approx(
        expected[1:], abs=2e-6
    )


def test_without_baselines_there_is_no_table(tmp_path: Path) -> None:
    analysis = write_analysis(tmp_path, ITEMS, draw_verdicts(SHARES, ITEMS))
    assert analysis.table("baselines") is None
