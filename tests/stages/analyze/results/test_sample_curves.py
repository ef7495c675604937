"""Accuracy against the number of samples."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from scipy.stats import linregress
from tests.stages.analyze.results.curves.made import Draw, make_analysis, make_answers

from omibench.schemas.problem import Choice
from omibench.stages.aggregate.samples import Sample, consistency, make_equivalence, make_validity

SAMPLES = 8
STUDY = {
    "settings": {"many": {"decoding": {"samples": SAMPLES, "temperature": 0.6}}, "one": {}},
    "infer": {"models": ["m"], "settings": ["many", "one"]},
}


def draw_samples(problems: int, seed: int = 1) -> list[Draw]:
    """Samples that answer 7 (right), 8, 9 or nothing."""
    rng = Random(seed)
    draws = [Draw("m", "one", f"p{i}", 1.0) for i in range(problems)]
    for i in range(problems):
        for index in range(SAMPLES):
            answer = rng.choice(["7", "7", "8", "9", None])
            right = float(answer == "7")
            draws.append(Draw("m", "many", f"p{i}", right, index=index, extracted=answer))
    return draws


def vote(subset: tuple[str | None, ...]) -> float:
    """How often 7 wins a vote, ties drawn."""
    valid = [answer for answer in subset if answer]
    sizes = {answer: valid.count(answer) for answer in valid}
    tied = [a for a, size in sizes.items() if size == max(sizes.values())]
    return ("7" in tied) / len(tied) if tied else 0.0


def test_every_k_is_the_mean_over_all_subsets_of_the_samples(tmp_path: Path) -> None:
    draws = draw_samples(5)
    table = make_analysis(tmp_path, STUDY, make_answers(5), draws).table("accuracy-by-k")
    assert table is not None
    rows = {(r["metric"], r["k"]): r for r in table.drop_nulls("k").iter_rows(named=True)}
    assert len(rows) == 3 * SAMPLES
    for k in range(1, SAMPLES + 1):
        votes, passes, agreements = [], [], []
        for i in range(5):
            answers = [d.extracted for d in draws if (d.setting, d.id) == ("many", f"p{i}")]
            subsets = list(combinations(answers, k))
            votes.append(sum(vote(s) for s in subsets) / len(subsets))
            passes.append(sum("7" in s for s in subsets) / len(subsets))
            largest = [max((s.count(a) for a in s if a), default=0) for s in subsets]
            agreements.append(sum(largest) / k / len(subsets))
        for metric, values in [
            ("majority@k", votes), ("pass@k", passes), ("consistency@k", agreements),
        ]:  # fmt: skip
            assert rows[metric, k]["estimate"] == pytest.approx(sum(values) / 5, abs=1e-6)
            assert rows[metric, k]["n"] == 5


def test_a_line_is_fitted_on_log2_of_the_papers_k(tmp_path: Path) -> None:
    analysis = make_analysis(tmp_path, STUDY, make_answers(20), draw_samples(20))
    table = analysis.table("accuracy-by-k")
    assert table is not None
    points = table.filter(pl.col("k").is_in([1, 3, 4, 8]), metric="pass@k")
    line = linregress(np.log2(points["k"].to_numpy()), points["estimate"].to_numpy())
    (slope,) = table.filter(metric="slope", curve="pass@k").to_dicts()
    (intercept,) = table.filter(metric="intercept", curve="pass@k").to_dicts()
    assert slope["estimate"] == pytest.approx(line.slope, abs=1e-5)
    assert intercept["estimate"] == pytest.approx(line.intercept, abs=1e-5)
    assert slope["r_squared"] == pytest.approx(line.rvalue**2, abs=1e-5)
    assert slope["low"] < slope["estimate"] < slope["high"]
    assert slope["clusters"] == 20


def test_the_judge_scores_the_vote_of_the_extracted_answers(tmp_path: Path) -> None:
    draws = [
        Draw(
            "m", "many", "p0", 0.0, index=index, extracted="9" if index < 5 else "7", judged=judged
        )
        for index, judged in enumerate([1.0] * 5 + [0.0] * 3)
    ]
    table = make_analysis(tmp_path, STUDY, make_answers(1), draws).table("accuracy-by-k")
    assert table is not None
    rows = table.filter(metric="majority@k", k=SAMPLES)
    assert dict(rows.select("rules", "estimate").iter_rows()) == {"robust": 0.0, "gptscore": 1.0}


def test_agreement_over_all_samples_is_that_of_the_stage_aggregate(tmp_path: Path) -> None:
    choices = [Choice(label=label, text=text) for label, text in (("A", "seven"), ("B", "eight"))]
    (item,) = make_answers(1)
    answers = [item.model_copy(update={"answer_type": "mcq", "choices": choices, "answer": ["A"]})]
    extracted = ["a", "A", "(A)", "A", "B", "b", "C", "B"]
    draws = [
        Draw("m", "many", "p0", float("A" in letter.upper()), index=index, extracted=letter)
        for index, letter in enumerate(extracted)
    ]
    table = make_analysis(tmp_path, STUDY, answers, draws).table("accuracy-by-k")
    assert table is not None
    samples = [Sample(draw.index, draw.extracted, draw.verdict) for draw in draws]
    agreement = consistency(samples, make_equivalence(None, "mcq", choices), make_validity(choices))
    (row,) = table.filter(metric="consistency@k", k=SAMPLES).to_dicts()
    assert row["estimate"] == agreement == 4 / 8


def test_one_sample_a_problem_makes_no_table(tmp_path: Path) -> None:
    analysis = make_analysis(tmp_path, STUDY, make_answers(1), [Draw("m", "one", "p0", 1.0)])
    assert analysis.table("accuracy-by-k") is None
