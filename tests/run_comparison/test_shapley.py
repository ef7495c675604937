"""Shares of a difference: the average over all orders, and joined where states are unknown."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.run_comparison.shapley import (
    average_over_orders,
    choose_partition,
    divide_differences,
    list_partitions,
)

VALUES = st.integers(1, 5).flatmap(
    lambda m: st.lists(st.floats(0, 1), min_size=2**m, max_size=2**m)
)


def average_by_hand(values: list[float]) -> list[float]:
    """The definition: every order, one after the other."""
    components = (len(values) - 1).bit_length()
    orders = list(permutations(range(components)))
    shares = [0.0] * components
    for order in orders:
        state = 0
        for component in order:
            shares[component] += values[state | 1 << component] - values[state]
            state |= 1 << component
    return [share / len(orders) for share in shares]


@given(VALUES)
def test_shares_are_those_of_all_orders_and_sum_to_the_difference(values: list[float]) -> None:
    components = (len(values) - 1).bit_length()
    partition = tuple(1 << i for i in range(components))
    (shares,) = average_over_orders(np.array([values]), partition)
    assert shares == pytest.approx(average_by_hand(values), abs=1e-12)
    assert sum(shares) == pytest.approx(values[-1] - values[0], abs=1e-12)


@given(VALUES, st.data())
def test_shares_sum_whatever_is_unknown(values: list[float], data: st.DataObject) -> None:
    rows = np.array([values, values])
    for state in range(1, len(values) - 1):
        if data.draw(st.booleans()):
            rows[1, state] = np.nan
    found = list(divide_differences(rows))
    assert sorted(row for part in found for row in part.rows) == [0, 1]
    for part in found:
        assert sum(part.partition) == len(values) - 1
        for row, shares in zip(part.rows, part.shares, strict=True):
            assert sum(shares) == pytest.approx(rows[row, -1] - rows[row, 0], abs=1e-12)


def test_the_finest_partition_whose_states_are_known() -> None:
    everything = [True] * 8
    assert choose_partition(3, tuple(everything)) == (1, 2, 4)
    # The first component cannot be switched alone, nor the second: they are joined.
    unknown = [state not in (1, 2, 5, 6) for state in range(8)]
    assert choose_partition(3, tuple(unknown)) == (3, 4)
    assert choose_partition(3, tuple(state in (0, 7) for state in range(8))) == (7,)


def test_partitions_are_bell_numbers() -> None:
    assert [len(list_partitions(n)) for n in range(1, 7)] == [1, 2, 5, 15, 52, 203]
    assert all(sum(partition) == 63 for partition in list_partitions(6))
