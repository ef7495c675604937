"""Whole shares of a number: in proportion to sizes, or as equal as the sizes allow."""

from __future__ import annotations

from collections.abc import Mapping


def proportional(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """`total` in proportion to `sizes`, by largest remainders; ties go to the first named."""
    whole = sum(sizes.values())
    exact = {name: total * size / whole for name, size in sizes.items()}
    found = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(sizes, key=lambda name: found[name] - exact[name])
    for name in by_remainder[: total - sum(found.values())]:
        found[name] += 1
    return found


def equal(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """`total` in shares that are as equal as they can be where none exceeds its size.

    All of it where the sizes hold no more than `total`.
    """
    found = dict.fromkeys(sizes, 0)
    left = total
    for place, name in enumerate(sorted(sizes, key=lambda name: sizes[name])):
        found[name] = min(sizes[name], left // (len(sizes) - place))
        left -= found[name]
    return found
