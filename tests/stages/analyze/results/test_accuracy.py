"""Accuracy of whole cells, by every metric that a scorer gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages.analyze.results.comparisons.studies import make_items, write_analysis


def test_strict_accuracy_counts_refusals_as_wrong_in_every_table(tmp_path: Path) -> None:
    verdicts = {
        ("a", "direct"): {"p0": [1.0], "p1": [0.5], "p2": [None], "p3": [None]},
        ("a", "cot"): {"p0": [1.0], "p1": [1.0], "p2": [1.0], "p3": [None]},
    }
    baselines = {"settings": {"cot": "direct"}}
    analysis = write_analysis(tmp_path, make_items(4), verdicts, baselines=baselines)
    for name in ("accuracy", "slices"):
        table = analysis.table(name)
        assert table is not None
        rows = table.filter(setting="direct", metric="strict")
        assert (rows["estimate"] * rows["n"]).sum() / rows["n"].sum() == pytest.approx(0.25)
        assert set(rows["n"]) == set(table.filter(setting="direct", metric="accuracy")["n"])
    (score,) = analysis.scores.filter(setting="direct", subject="total").to_dicts()
    assert score["strict"] == pytest.approx(0.25)
    differences = analysis.table("baselines")
    assert differences is not None
    (difference,) = differences.filter(measure="strict", slice="").to_dicts()
    assert (difference["estimate"], difference["n"]) == (0.5, 4)
