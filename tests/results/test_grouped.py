"""Estimates of many groups are those of one group at a time."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.results.grouped import (
    average_samples,
    compare_groups,
    estimate_groups,
    estimate_means,
)
from omibench.results.statistics.intervals import clustered_wilson
from omibench.results.statistics.paired import paired_difference

VALUES = st.sampled_from([0.0, 0.25, 0.5, 1.0])
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("123456"), VALUES, VALUES),
    min_size=1,
    max_size=60,
)
COLUMNS = ["group", "cluster", "first", "second"]


@given(ROWS, st.sampled_from([0.8, 0.95]))
def test_each_group_has_the_estimate_of_its_own_values(
    rows: list[tuple[str, str, float, float]], confidence: float
) -> None:
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    for row in estimate_groups(frame, ["group"], confidence, "first").iter_rows(named=True):
        part = frame.filter(group=row["group"])
        alone = clustered_wilson(part["first"].to_list(), part["cluster"].to_list(), confidence)
        values = row["estimate"], row["low"], row["high"], row["n"], row["n_eff"]
        assert values == pytest.approx(tuple(alone), abs=1e-9)
        assert row["clusters"] == part["cluster"].n_unique()


@given(ROWS, st.sampled_from([1, 10]))
def test_each_group_has_the_difference_of_its_own_pairs(
    rows: list[tuple[str, str, float, float]], comparisons: int
) -> None:
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    for row in compare_groups(frame, ["group"], 0.95, comparisons).iter_rows(named=True):
        part = frame.filter(group=row["group"])
        alone = paired_difference(
            part["first"].to_list(),
            part["second"].to_list(),
            part["cluster"].to_list(),
            0.95,
            comparisons,
        )
        values = row["estimate"], row["low"], row["high"], row["n"]
        assert values == pytest.approx(tuple(alone), abs=1e-9)
        assert row["first"] - row["second"] == pytest.approx(row["estimate"])


def test_no_columns_make_one_group_of_all_rows() -> None:
    frame = pl.DataFrame({"cluster": ["1", "2"], "verdict": [1.0, 0.0]})
    row = estimate_groups(frame, [], 0.95).row(0, named=True)
    assert (row["estimate"], row["n"], row["clusters"]) == (0.5, 2, 2)


def test_a_null_is_left_out_and_a_group_of_nulls_has_no_row() -> None:
    frame = pl.DataFrame(
        {"group": ["a", "a", "b"], "cluster": ["1", "2", "3"], "verdict": [1.0, None, None]}
    )
    estimates = estimate_groups(frame, ["group"], 0.95)
    assert estimates.select("group", "n").rows() == [("a", 1)]


def test_a_key_that_is_null_is_a_group_of_its_own() -> None:
    frame = pl.DataFrame(
        {"group": ["a", None, None], "cluster": ["1", "2", "3"], "verdict": [1.0, 0.0, 1.0]}
    )
    assert estimate_groups(frame, ["group"], 0.95).select("group", "n").rows() == [
        ("a", 1),
        (None, 2),
    ]


def test_samples_of_an_item_are_averaged_within_their_group() -> None:
    verdicts = pl.DataFrame(
        {
            "model": ["m", "m", "n"],
            "id": ["p", "p", "p"],
            "cluster": ["c", "c", "c"],
            "verdict": [1.0, 0.0, 1.0],
        }
    )
    assert average_samples(verdicts, ["model"]).rows() == [
        ("m", "p", "c", 2, 0.5),
        ("n", "p", "c", 1, 1.0),
    ]


def test_means_of_any_size_have_student_s_interval_over_clusters() -> None:
    frame = pl.DataFrame(
        {"g": ["a"] * 4 + ["b"], "cluster": [*"1234", "5"], "x": [10.0, 20, 30, None, 7]}
    )
    first, second = estimate_means(frame, ["g"], 0.95, "x").iter_rows(named=True)
    assert (first["estimate"], first["n"], first["clusters"]) == (20.0, 3, 3)
    assert (first["low"], first["high"]) == pytest.approx((20 - 24.841377, 20 + 24.841377))
    assert (second["estimate"], second["low"], second["high"]) == (7.0, None, None)


def test_one_sample_an_item_is_its_own_mean() -> None:
    frame = pl.DataFrame(
        {"group": ["a", "a", "b"], "id": ["1", "2", "1"], "cluster": ["c", "c", "c"],
         "verdict": [1.0, 0.0, 1.0], "credit": [None, 0.5, None]},
        schema_overrides={"credit": pl.Float64},
    )  # fmt: skip
    single = average_samples(frame, ["group"], ["verdict", "credit"])
    assert single["verdict"].to_list() == [1.0, 0.0, 1.0]
    assert single["samples"].to_list() == [1, 1, 1]
    twice = average_samples(pl.concat([frame, frame]), ["group"], ["verdict", "credit"])
    assert twice.drop("samples").equals(single.drop("samples"))
    assert twice["samples"].to_list() == [2, 2, 2]
