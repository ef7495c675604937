"""Respondents of known ability: what they score on clustered problems, several samples each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

ITEM_SPREAD = 1.5
"""Variance of what makes problems hard, on the scale of ability; the answers' own noise has 1."""
OWN_SPREAD = 0.3
"""Variance of what makes a problem hard for one of two respondents alone."""


class Design(NamedTuple):
    """Problems in clusters of one size, answered several times."""

    clusters: int
    size: int
    samples: int
    correlation: float = 0.0
    """Of the difficulty of two problems of a cluster."""


def draw_shares(seed: int, design: Design, accuracies: list[float]) -> list[list[float]]:
    """The share of right samples of each problem, one list for each respondent.

    Args:
        seed: Every draw has its own.
        design: The problems.
        accuracies: The true accuracy of each respondent, in (0, 1).
    """
    rng = np.random.default_rng(seed)
    n = design.clusters * design.size
    shared = rng.standard_normal(design.clusters)[cluster_numbers(design)]
    single = rng.standard_normal(n)
    weight = design.correlation
    item = np.sqrt(ITEM_SPREAD) * (np.sqrt(weight) * shared + np.sqrt(1 - weight) * single)
    total = np.sqrt(1 + ITEM_SPREAD + OWN_SPREAD)
    return [
        (
            rng.binomial(
                design.samples,
                ndtr(ndtri(p) * total + item + np.sqrt(OWN_SPREAD) * rng.standard_normal(n)),
            )
            / design.samples
        ).tolist()
        for p in accuracies
    ]


def cluster_numbers(design: Design) -> list[int]:
    """The cluster of each problem."""
    return [cluster for cluster in range(design.clusters) for _ in range(design.size)]
