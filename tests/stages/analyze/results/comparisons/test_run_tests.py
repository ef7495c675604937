"""Means, spreads and tests over runs, against numpy and scipy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_ind, ttest_rel
from tests.stages.analyze.results.comparisons.studies import (
    draw_verdicts,
    make_items,
    write_analysis,
)

ITEMS = make_items(30, exam=["local"] * 18 + ["national"] * 12)
SHARES = {("a", "direct"): 0.4, ("a", "cot"): 0.6}
BASELINES = {"settings": {"cot": "direct"}}


def test_runs_are_the_samples_of_each_index(tmp_path: Path) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS, 5)
    analysis = write_analysis(tmp_path, ITEMS, verdicts, 5, baselines=BASELINES, slices=["exam"])
    table = analysis.table("run-tests")
    assert table is not None
    local = [item.id for item in ITEMS if item.attributes["exam"] == "local"]
    runs = {
        setting: np.array([verdicts["a", setting][name] for name in local]).mean(axis=0)
        for setting in ("direct", "cot")
    }
    (mean,) = table.filter(metric="run mean", setting="cot", value="local").to_dicts()
    expected = runs["cot"].mean(), runs["cot"].std(ddof=1), runs["cot"].std(ddof=1) / 5**0.5
    assert (mean["estimate"], mean["sd"], mean["sem"]) == pytest.approx(expected, abs=2e-6)
    assert (mean["runs"], mean["n"], mean["clusters"]) == (5, 18, 9)
    (gain,) = table.filter(metric="difference", value="local").to_dicts()
    welch = ttest_ind(runs["cot"], runs["direct"], equal_var=False, alternative="greater")
    assert gain["p_welch"] == pytest.approx(welch.pvalue, abs=2e-6)
    assert gain["p_paired"] == pytest.approx(
        ttest_rel(runs["cot"], runs["direct"]).pvalue, abs=2e-6
    )
    assert (gain["n"], gain["clusters"]) == (18, 9)
    assert len(gain["stars"]) == sum(gain["p_welch"] < limit for limit in (0.05, 0.01, 1e-3, 1e-4))


def test_runs_that_do_not_vary_have_no_p(tmp_path: Path) -> None:
    verdicts = {
        cell: {name: values[:1] * 3 for name, values in by_item.items()}
        for cell, by_item in draw_verdicts(SHARES, ITEMS).items()
    }
    analysis = write_analysis(tmp_path, ITEMS, verdicts, 3, baselines=BASELINES)
    table = analysis.table("run-tests")
    assert table is not None
    (gain,) = table.filter(metric="difference", slice="").to_dicts()
    assert (gain["p_welch"], gain["p_paired"], gain["stars"]) == (None, None, "")
    assert gain["note"] == "runs do not vary"


def test_a_run_that_lacks_items_is_left_out(tmp_path: Path) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS, 3)
    verdicts["a", "cot"]["p0"] = verdicts["a", "cot"]["p0"][:2]
    table = write_analysis(tmp_path, ITEMS, verdicts, 3).table("run-tests")
    assert table is not None
    (mean,) = table.filter(setting="cot", slice="").to_dicts()
    assert mean["runs"] == 2


def test_single_samples_are_no_runs(tmp_path: Path) -> None:
    analysis = write_analysis(tmp_path, ITEMS, draw_verdicts(SHARES, ITEMS), baselines=BASELINES)
    assert analysis.table("run-tests") is None


def test_chosen_samples_are_no_runs(tmp_path: Path) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS, 3)
    analysis = write_analysis(tmp_path, ITEMS, verdicts, 3, baselines=BASELINES)
    cot = analysis.study.settings["cot"]
    voted = cot.model_copy(
        update={"aggregate": cot.aggregate.model_copy(update={"how": "majority"})}
    )
    settings = {**analysis.study.settings, "cot": voted}
    study = analysis.study.model_copy(update={"settings": settings})
    picks = pl.Series([n % 3 for n in range(len(ITEMS))])
    chosen = analysis.results.verdicts.with_columns(
        counts=(pl.col("setting") != "cot")
        | (pl.col("id").replace_strict([item.id for item in ITEMS], picks) == pl.col("index"))
    )
    results = replace(analysis.results, study=study, verdicts=chosen)
    table = replace(analysis, study=study, results=results).table("run-tests")
    assert table is not None
    assert set(table["setting"]) == {"direct"}
    assert set(table["metric"]) == {"run mean"}
