"""pass@k against the enumeration of all draws, and the spread of repeated runs."""

from __future__ import annotations

from itertools import combinations
from math import isnan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.statistics.estimators import pass_at_k, summarise_runs


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.data())
def test_pass_at_k_is_the_share_of_all_subsets_with_a_right_sample(
    right: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(right)))
    subsets = list(combinations(right, k))
    expected = sum(any(s) for s in subsets) / len(subsets)
    assert pass_at_k(len(right), sum(right), k) == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 200), st.data())
def test_pass_at_k_grows_with_k_and_with_right_samples(n: int, data: st.DataObject) -> None:
    right, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    value = pass_at_k(n, right, k)
    assert 0 <= value <= 1
    assert pass_at_k(n, right, 1) == pytest.approx(right / n)
    assert pass_at_k(n, right, n) == float(right > 0)
    assert k == n or pass_at_k(n, right, k + 1) >= value - 1e-12
    assert right == n or pass_at_k(n, right + 1, k) >= value - 1e-12


@pytest.mark.parametrize(("n", "right", "k"), [(4, 0, 0), (4, 0, 5), (4, 5, 1), (4, -1, 1)])
def test_counts_out_of_range_are_refused(n: int, right: int, k: int) -> None:
    with pytest.raises(ValueError, match="must be in"):
        pass_at_k(n, right, k)


def test_mean_and_spread_over_runs() -> None:
    runs = summarise_runs([0.5, 0.52, 0.54])
    assert runs.mean == pytest.approx(0.52)
    assert runs.sd == pytest.approx(0.02)
    assert runs.sem == pytest.approx(0.02 / sqrt(3))
    assert runs.runs == 3
    assert isnan(summarise_runs([0.5]).sd)
    with pytest.raises(ValueError, match="no run"):
        summarise_runs([])
