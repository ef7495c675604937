"""Shares of a difference among the differing components: exact Shapley values.

A state of the components is a bit mask: bit i is set if component i is that of the second run.
State 0 is the first run, the highest state the second one. With m components there are 2**m states,
so that the average over all m! orders is computed exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import factorial
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Partition = tuple[int, ...]
"""The blocks of a partition of the components, each as a bit mask."""


class BlockShares(NamedTuple):
    """Rows in which the same components can be distinguished."""

    rows: NDArray[np.intp]
    """Their positions."""
    partition: Partition
    shares: NDArray[np.float64]
    """The share of each block (column) in the difference of each row."""


def divide_differences(values: NDArray[np.float64]) -> Iterator[BlockShares]:
    """Divide the difference between the last and the first state of each row among its components.

    A share is the change from switching a component, averaged over all orders of switching (Shapley
    1953, A value for n-person games, eq. 12). If states are unknown, components are joined to
    blocks, as few as possible, so that every required state is known.

    Args:
        values: One row for each case, one column for each of the 2**m states; NaN if a state's
            value is unknown. The first and the last column are known.

    Yields:
        The rows by the pattern of their unknown states. The shares of a row sum to its difference.
    """
    import numpy as np

    components = (values.shape[1] - 1).bit_length()
    patterns, inverse = np.unique(~np.isnan(values), axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(inverse.reshape(-1) == number)
        partition = choose_partition(components, tuple(map(bool, pattern)))
        yield BlockShares(rows, partition, average_over_orders(values[rows], partition))


def average_over_orders(
    values: NDArray[np.float64], partition: Sequence[int]
) -> NDArray[np.float64]:
    """Return the Shapley value of each block.

    Args:
        values: One row for each case, one column for each state of the components.
        partition: The blocks, as bit masks.

    Returns:
        One row for each case, one column for each block.
    """
    import numpy as np

    blocks = len(partition)
    shares = np.zeros((len(values), blocks))
    for position, block in enumerate(partition):
        others = [mask for mask in partition if mask != block]
        for chosen in range(2 ** len(others)):
            state = sum(mask for i, mask in enumerate(others) if chosen >> i & 1)
            size = chosen.bit_count()
            weight = factorial(size) * factorial(blocks - size - 1) / factorial(blocks)
            shares[:, position] += weight * (values[:, state | block] - values[:, state])
    return shares


@cache
def choose_partition(components: int, is_known: tuple[bool, ...]) -> Partition:
    """Return the finest partition of the components for which every state is known.

    Args:
        components: The number of components.
        is_known: Whether the value of each of the 2**components states is known.

    Returns:
        Its blocks as bit masks. Of several equally fine partitions, the first.
    """
    return next(
        partition
        for partition in list_partitions(components)
        if all(is_known[state] for state in _list_states(partition))
    )


@cache
def list_partitions(components: int) -> tuple[Partition, ...]:
    """Yield all partitions of some components, those with most blocks first."""
    partitions: list[Partition] = [()]
    for position in range(components):
        bit = 1 << position
        partitions = [
            grown
            for partition in partitions
            for grown in (
                (*partition, bit),
                *(
                    (*partition[:i], block | bit, *partition[i + 1 :])
                    for i, block in enumerate(partition)
                ),
            )
        ]
    return tuple(sorted(partitions, key=lambda partition: (-len(partition), partition)))


def _list_states(partition: Partition) -> Iterator[int]:
    for chosen in range(2 ** len(partition)):
        yield sum(block for i, block in enumerate(partition) if chosen >> i & 1)
