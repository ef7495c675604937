"""Items are one group exactly when a chain of common keys links them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from omibench.datasets.dataset import link_by_keys


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=3), max_size=12))
def test_groups_are_the_connected_ones(keys: list[list[str]]) -> None:
    groups = link_by_keys(keys)
    reached = {i: {i} for i in range(len(keys))}
    for _ in keys:
        reached = {
            i: own | {j for j, k in enumerate(keys) for m in own if set(k) & set(keys[m])}
            for i, own in reached.items()
        }
    assert groups == [min(reached[i]) for i in range(len(keys))]
