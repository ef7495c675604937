"""Accuracy against the number of examples."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import ttest_1samp, ttest_ind
from tests.stages.analyze.results.curves.made import Draw, make_analysis, make_answers

from omibench.results.statistics.samples import mark_stars

RUNS = 5


def make_study(**decoding: Any) -> dict[str, Any]:
    shot = {"examples": {"k": 2, "take": "window"}}
    settings = {
        "none": {"decoding": decoding},
        "two": {**shot, "decoding": {**decoding, "samples": RUNS}},
    }
    freeze = {"examples": {"first": 9}}
    return {
        "settings": settings, "infer": {"models": ["m"], "settings": [*settings]}, "freeze": freeze,
    }  # fmt: skip


def draw_two(right: list[int], problems: int = 6) -> list[Draw]:
    """Runs of which so many problems are right."""
    return [
        Draw("m", "two", f"p{i}", float(i < count), index=run)
        for run, count in enumerate(right)
        for i in range(problems)
    ]


def test_runs_have_mean_spread_and_a_test_against_no_example(tmp_path: Path) -> None:
    counts = [4, 5, 4, 3, 5]
    draws = [Draw("m", "none", f"p{i}", float(i < 2)) for i in range(6)] + draw_two(counts)
    table = make_analysis(tmp_path, make_study(), make_answers(6), draws).table("accuracy-by-shots")
    assert table is not None
    zero, two = table.sort("shots").to_dicts()
    shares = [count / 6 for count in counts]
    assert (zero["shots"], two["shots"], two["runs"], zero["runs"]) == (0, 2, 5, 1)
    assert two["estimate"] == pytest.approx(sum(shares) / 5)
    expected = ttest_1samp(shares, 2 / 6, alternative="greater")
    assert two["p"] == pytest.approx(expected.pvalue, abs=1e-6)
    assert two["sem"] == pytest.approx(two["sd"] / sqrt(5), abs=1e-6)
    assert two["stars"] == mark_stars(expected.pvalue)
    assert (zero["p"], zero["stars"], zero["baseline"]) == (None, "", None)
    assert two["baseline"] == "none"


def test_a_single_sampled_run_without_examples_is_no_baseline_for_a_test(tmp_path: Path) -> None:
    draws = [Draw("m", "none", f"p{i}", 0.0) for i in range(6)] + draw_two([4, 5, 4, 3, 5])
    study = make_study(temperature=1.0)
    table = make_analysis(tmp_path, study, make_answers(6), draws).table("accuracy-by-shots")
    assert table is not None
    (two,) = table.filter(shots=2).to_dicts()
    assert (two["p"], two["stars"], two["reason"]) == (None, "", "fewer than two runs")


def test_each_exam_is_compared_by_itself(tmp_path: Path) -> None:
    study = make_study(temperature=1.0)
    study["settings"]["none"]["decoding"] = {"temperature": 1.0, "samples": RUNS}
    none = [
        Draw("m", "none", f"p{i}", float((i + run) % 3 == 0), index=run)
        for run in range(RUNS)
        for i in range(8)
    ]
    draws = none + draw_two([6, 7, 8, 5, 7], 8)
    answers = make_answers(8, exam=["local", "national"])
    table = make_analysis(tmp_path, study, answers, draws).table("accuracy-by-shots")
    assert table is not None
    assert table["value"].unique(maintain_order=True).to_list() == ["", "local", "national"]
    (row,) = table.filter(value="national", shots=2).to_dicts()
    by_run = [
        [
            sum(d.verdict for d in part if d.index == run and int(d.id[1:]) % 2) / 4
            for run in range(5)
        ]
        for part in (draw_two([6, 7, 8, 5, 7], 8), none)
    ]
    assert row["slice"] == "exam"
    assert row["n"] == 4
    assert row["estimate"] == pytest.approx(sum(by_run[0]) / 5)
    test = ttest_ind(*by_run, equal_var=False, alternative="greater")
    assert row["p"] == pytest.approx(test.pvalue, abs=1e-6)


def test_a_study_without_examples_has_no_such_table(tmp_path: Path) -> None:
    study = {"settings": {"cot": {}}, "infer": {"models": ["m"], "settings": ["cot"]}}
    analysis = make_analysis(tmp_path, study, make_answers(1), [Draw("m", "cot", "p0", 1.0)])
    assert analysis.table("accuracy-by-shots") is None
