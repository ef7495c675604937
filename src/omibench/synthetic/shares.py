"""Integer shares of a number: proportional to sizes, or as equal as the sizes allow."""

from __future__ import annotations

from collections.abc import Mapping


def proportional(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Split `total` in proportion to `sizes`, by largest remainders; ties go to the first."""
    size_sum = sum(sizes.values())
    exact = {name: total * size / size_sum for name, size in sizes.items()}
    shares = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(sizes, key=lambda name: shares[name] - exact[name])
    for name in by_remainder[: total - sum(shares.values())]:
        shares[name] += 1
    return shares


def equal(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Split `total` into shares as equal as possible, none exceeding its size.

    If the sizes sum to `total` or less, each share is its size.
    """
    shares = dict.fromkeys(sizes, 0)
    remaining = total
    for place, name in enumerate(sorted(sizes, key=lambda name: sizes[name])):
        shares[name] = min(sizes[name], remaining // (len(sizes) - place))
        remaining -= shares[name]
    return shares
