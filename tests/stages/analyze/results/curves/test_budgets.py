"""Accuracy against the tokens that a response may have."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages.analyze.results.curves.made import Draw, make_analysis, make_answers

SETTINGS = {
    "wide": {"decoding": {"max_tokens": 2048}},
    "narrow": {"decoding": {"max_tokens": 512}},
    "direct": {"prompt": "direct", "decoding": {"max_tokens": 256}},
}
STUDY = {"settings": SETTINGS, "infer": {"models": ["m", "n"], "settings": [*SETTINGS]}}


def test_a_row_a_budget_with_accuracy_tokens_and_truncated_responses(tmp_path: Path) -> None:
    draws = [Draw("m", "wide", f"p{i}", 1.0, tokens=600 + i) for i in range(4)]
    draws += [
        Draw(
            "m",
            "narrow",
            f"p{i}",
            float(i < 1),
            tokens=512,
            outcome="truncated" if i else "answered",
        )
        for i in range(4)
    ]
    draws += [Draw("m", "direct", f"p{i}", 0.0, tokens=5) for i in range(4)]
    draws += [Draw("n", "wide", f"p{i}", 0.0) for i in range(4)]
    table = make_analysis(tmp_path, STUDY, make_answers(4), draws).table("accuracy-by-budget")
    assert table is not None
    assert set(table["setting"]) == {"wide", "narrow"}
    assert table["model"].unique().to_list() == ["m"]
    rows = {(r["metric"], r["budget"]): r for r in table.iter_rows(named=True)}
    assert rows["accuracy", 512]["estimate"] == 0.25
    assert rows["accuracy", 2048]["estimate"] == 1.0
    assert rows["truncated", 512]["estimate"] == 0.75
    assert rows["tokens", 2048]["estimate"] == pytest.approx(601.5)
    assert rows["tokens", 2048]["low"] < 601.5 < rows["tokens", 2048]["high"]
    assert rows["tokens", 512]["n"] == 4
    assert table.filter(metric="accuracy")["budget"].to_list() == [512, 2048]


def test_responses_whose_tokens_nobody_counted_have_no_mean(tmp_path: Path) -> None:
    draws = [Draw("m", s, f"p{i}", 1.0) for s in ("wide", "narrow") for i in range(3)]
    table = make_analysis(tmp_path, STUDY, make_answers(3), draws).table("accuracy-by-budget")
    assert table is not None
    assert set(table["metric"]) == {"accuracy", "truncated"}


def test_a_study_of_one_budget_has_no_such_table(tmp_path: Path) -> None:
    draws = [Draw("m", s, "p0", 1.0) for s in ("wide", "direct")]
    draws += [Draw("n", "narrow", "p0", 1.0)]
    analysis = make_analysis(tmp_path, STUDY, make_answers(1), draws)
    assert analysis.table("accuracy-by-budget") is None
