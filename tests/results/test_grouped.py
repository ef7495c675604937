"""Estimates of many groups are those of one group at a time."""

from __future__ import annotations

from math import isnan

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from omibench.params.cells import choose_family
from omibench.params.setting import Cell
from omibench.results.grouped import (
    average_samples,
    compare_family,
    compare_groups,
    estimate_groups,
    estimate_means,
)
from omibench.results.statistics.intervals import clustered_wilson
from omibench.results.statistics.paired import compare_sums, paired_difference, sum_pairs

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


# All pairs of a family: the tests of each pair alone, adjusted together.


CELLS = [Cell(model, "cot") for model in "abcd"]


def make_verdicts(samples: int = 1) -> pl.DataFrame:
    generator = np.random.default_rng(5)
    rows = [
        (model, "cot", f"p{item}", f"stem{item // 2}", float(generator.random() < share))
        for model, share in zip("abcd", (0.8, 0.5, 0.45, 0.1), strict=True)
        for item in range(60 if model != "c" else 40)
        for _ in range(samples)
    ]
    return pl.DataFrame(rows, ["model", "setting", "id", "cluster", "verdict"], orient="row")


@pytest.mark.parametrize("samples", [1, 3])
def test_each_pair_is_that_of_its_own_items(samples: int) -> None:
    verdicts = make_verdicts(samples)
    tests = compare_family(verdicts, choose_family(CELLS), 0.95)
    assert len(tests.pairs) == 6
    columns = {
        cell: verdicts.filter(model=cell.model)
        .group_by("id", maintain_order=True)
        .agg(pl.col("verdict").mean(), pl.col("cluster").first())
        for cell in CELLS
    }
    p_values = []
    for (first, second), test in tests.pairs.items():
        both = columns[first].join(columns[second], on="id", maintain_order="left")
        pair = both["verdict"].to_list(), both["verdict_right"].to_list(), both["cluster"].to_list()
        assert test.difference == pytest.approx(paired_difference(*pair))
        assert test.p == pytest.approx(compare_sums(sum_pairs(*pair)).p[0])
        assert test.detectable == pytest.approx(
            compare_sums(sum_pairs(*pair), alpha=0.05 / 6).detectable[0]
        )
        p_values.append(test.p)
    adjusted = multipletests(p_values, method="holm")[1]
    assert [test.adjusted for test in tests.pairs.values()] == pytest.approx(adjusted)


def test_the_second_against_the_first_is_the_mirror() -> None:
    tests = compare_family(make_verdicts(), choose_family(CELLS), 0.95)
    one, other = (tests.compare(*pair) for pair in (CELLS[:2], CELLS[1::-1]))
    assert other.difference == pytest.approx(
        (-one.difference.value, -one.difference.hi, -one.difference.lo, one.difference.n)
    )
    assert (other.p, other.adjusted) == (one.p, one.adjusted)
    assert tests.is_ahead(CELLS[0], CELLS[3])
    assert not tests.is_ahead(CELLS[3], CELLS[0])


def test_ranks_are_what_the_tests_leave_open() -> None:
    tests = compare_family(make_verdicts(), choose_family(CELLS), 0.95)
    assert tests.ranks[CELLS[0]].best == 1
    assert tests.ranks[CELLS[3]] == (4, 4)
    assert tests.ranks[CELLS[1]].worst == 3


def test_cells_without_a_common_item_are_not_tested() -> None:
    verdicts = make_verdicts().with_columns(
        id=pl.when(pl.col("model") == "d").then(pl.col("id") + "x").otherwise("id")
    )
    test = compare_family(verdicts, choose_family(CELLS), 0.95).compare(CELLS[0], CELLS[3])
    assert test.difference.n == 0
    assert isnan(test.adjusted)


def test_a_single_cell_needs_no_test() -> None:
    assert compare_family(make_verdicts(), choose_family(CELLS[:1]), 0.95).pairs == {}
