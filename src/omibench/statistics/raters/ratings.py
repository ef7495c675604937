"""What several people say of the same units, as arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Unit(NamedTuple):
    """What is rated: the value that each person who rated it gave, and its cluster.

    Units of one cluster are drawn together, as the steps of one response are.
    """

    cluster: Hashable
    values: Mapping[str, Hashable]


@dataclass(frozen=True)
class Ratings:
    """The units that two people or more rated.

    Attributes:
        values: All values that were given, in the order that was stated.
        counts: How many people gave each value: [units, values].
        clusters: The number of the cluster of each unit: [units].
    """

    values: tuple[Hashable, ...]
    counts: Floats
    clusters: Ints

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return int(self.clusters.max(initial=-1)) + 1

    def sum_clusters(self, numbers: Floats) -> Floats:
        """Add the numbers of the units of each cluster: [units, ...] to [clusters, ...]."""
        sums = np.zeros((self.n_clusters, *numbers.shape[1:]))
        np.add.at(sums, self.clusters, numbers)
        return sums


def count_ratings(units: Iterable[Unit], order: Sequence[Hashable] = ()) -> Ratings:
    """Count who gave which value of each unit; units that one person rated alone are left out.

    Args:
        units: What was rated.
        order: The values of the scale in order; other values follow as they come.
    """
    rated = [unit for unit in units if len(unit.values) > 1]
    values = dict.fromkeys(order) | dict.fromkeys(v for unit in rated for v in unit.values.values())
    codes = {value: code for code, value in enumerate(values)}
    counts = np.zeros((len(rated), len(codes)))
    for number, unit in enumerate(rated):
        for value in unit.values.values():
            counts[number, codes[value]] += 1
    return Ratings(tuple(codes), counts, number_clusters(unit.cluster for unit in rated))


def number_clusters(clusters: Iterable[Hashable]) -> Ints:
    """The number of each cluster, in the order in which they come."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in clusters], dtype=np.int64)
