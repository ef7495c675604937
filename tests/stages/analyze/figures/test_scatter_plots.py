"""Our metrics beside other benchmarks: which series are paired, and what is said of them."""

from __future__ import annotations

import polars as pl

from omibench.stages.analyze.figures.scatter_plots import count_correlations, pair_series

MODELS = "abcdefgh"


def scores(**values: list[float]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"series": name, "benchmark": name, "metric": "accuracy", "model": model,
             "estimate": value}
            for name, series in values.items()
            for model, value in zip(MODELS, series, strict=False)
        ]
    )  # fmt: skip


def test_series_over_three_models_are_paired_with_the_first() -> None:
    first, pairs = pair_series(scores(ours=[1, 2, 3, 4], theirs=[4, 3, 2], few=[1, 2]))
    assert first == "ours"
    assert [(pair.name, pair.models) for pair in pairs] == [("theirs", ["a", "b", "c"])]
    assert pairs[0].rank.value == -1


def test_only_intervals_off_zero_are_counted() -> None:
    near = [1, 2, 3, 4, 5, 6, 8, 7]
    table = scores(
        ours=[1, 2, 3, 4, 5, 6, 7, 8],
        near=near,
        mixed=[4, 1, 7, 2, 8, 3, 6, 5],
        against=[-value for value in near],
    )
    assert count_correlations(table) == (
        "Spearman's correlation of ours with 3 other series has an interval above zero for 1 and "
        "below for 1. The intervals are not corrected for their number."
    )


def test_three_models_have_no_interval_and_nothing_is_claimed() -> None:
    found = count_correlations(scores(ours=[1, 2, 3], same=[1, 2, 3]))
    assert found is not None
    assert "for an interval" in found
    assert count_correlations(scores(ours=[1, 2, 3])) is None
