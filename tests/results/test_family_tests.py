"""All pairs of a family: the tests of each pair alone, adjusted together."""

from __future__ import annotations

from math import isnan

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.multitest import multipletests

from omibench.params.cells import choose_family
from omibench.params.setting import Cell
from omibench.results.grouped import compare_family
from omibench.results.statistics.paired import compare_sums, paired_difference, sum_pairs

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
