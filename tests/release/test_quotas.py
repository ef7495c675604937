"""A part has its share of every stratum and of every value, rounded up or down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from omibench.datasets.release.splits import Stratum, share_quotas

Sizes = st.integers(1, 2).flatmap(
    lambda attributes: st.dictionaries(
        st.tuples(*[st.sampled_from("abcdef")] * attributes), st.integers(1, 60), min_size=1
    )
)


def count_amiss(sizes: Mapping[Stratum, int], quotas: Mapping[Stratum, int], items: int) -> int:
    """Values whose number is not their share, rounded up or down."""
    total = sum(sizes.values())
    shares: Counter[tuple[int, str]] = Counter()
    counts: Counter[tuple[int, str]] = Counter()
    for key, size in sizes.items():
        for value in enumerate(key):
            shares[value] += size * items
            counts[value] += quotas[key]
    return sum(abs(total * counts[value] - share) >= total for value, share in shares.items())


@given(Sizes, st.data())
def test_values_have_their_shares(sizes: dict[Stratum, int], data: st.DataObject) -> None:
    items = data.draw(st.integers(0, sum(sizes.values())))
    quotas = share_quotas(sizes, items)
    assert sum(quotas.values()) == items
    for key, size in sizes.items():
        assert abs(sum(sizes.values()) * quotas[key] - size * items) < sum(sizes.values())
    assert not count_amiss(sizes, quotas, items)


def test_largest_remainders_alone_would_miss_the_shares_of_values() -> None:
    # Each of nine strata has 3.33; the three that are rounded up may not share a value.
    sizes = {(a, b): 10 for a in "abc" for b in "xyz"}
    quotas = share_quotas(sizes, 30)
    assert sorted(quotas.values()) == [3] * 6 + [4] * 3
    assert not count_amiss(sizes, quotas, 30)


def test_a_single_item_per_stratum_is_shared_too() -> None:
    sizes = {(f"a{k % 20}", f"b{k // 20}"): 1 for k in range(400)}
    quotas = share_quotas(sizes, 96)
    assert sum(quotas.values()) == 96
    assert not count_amiss(sizes, quotas, 96)


def test_shares_that_cannot_be_are_as_near_as_possible() -> None:
    # Half of each of four strata, where every value would need exactly one of its two strata.
    sizes = {("a", "x", "u"): 1, ("a", "y", "v"): 1, ("b", "x", "v"): 1, ("b", "y", "u"): 1}
    quotas = share_quotas(sizes, 2)
    assert sum(quotas.values()) == 2
    assert count_amiss(sizes, quotas, 2) == 2
