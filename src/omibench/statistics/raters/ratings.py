"""Ratings of the same units by several annotators, as arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Unit(NamedTuple):
    """A rated unit: the value given by each annotator, and its cluster.

    Units of one cluster are resampled together, such as the steps of one response.
    """

    cluster: Hashable
    values: Mapping[str, Hashable]


@dataclass(frozen=True)
class Ratings:
    """Units with at least two ratings.

    Attributes:
        values: All given values, in the stated order.
        counts: Number of annotators for each value: [units, values].
        clusters: Number of the cluster of each unit: [units].
    """

    values: tuple[Hashable, ...]
    counts: Floats
    clusters: Ints

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.clusters.max(initial=-1)) + 1

    def sum_clusters(self, numbers: Floats) -> Floats:
        """Sum values of the units of each cluster: [units, ...] to [clusters, ...]."""
        sums = np.zeros((self.n_clusters, *numbers.shape[1:]))
        np.add.at(sums, self.clusters, numbers)
        return sums


def count_ratings(units: Iterable[Unit], order: Sequence[Hashable] = ()) -> Ratings:
    """Count the ratings of each unit by value; units with a single rating are dropped.

    Args:
        units: Rated units.
        order: Values of the scale in order; other values follow in order of appearance.
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
    """Return the number of each cluster, in order of appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in clusters], dtype=np.int64)
