"""Expected results of k of n samples: votes and agreement over all subsets of size k.

The n samples of a problem fall into classes of equal answers, and samples without an answer. The
first k samples are one subset of many; the mean over all equally likely subsets is unbiased for
k new samples, as `estimators.pass_at_k` is for pass@k (Chen et al. 2021, section 2.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class AnswerCounts(NamedTuple):
    """Samples of one problem: class sizes, and the number of samples without an answer."""

    classes: tuple[int, ...]
    """Sizes of the classes of equal answers, each at least 1."""
    invalid: int = 0

    @property
    def samples(self) -> int:
        """Number of samples."""
        return sum(self.classes) + self.invalid


def vote_curve(
    counts: AnswerCounts, verdicts: Sequence[float], invalid_verdict: float, most: int
) -> tuple[float, ...]:
    """Return the mean verdict of the majority answer among k samples, for k = 1 to `most`.

    The largest class wins, with random tie breaks; without any answer, an invalid sample is
    chosen (OMIBench, H.3).

    Args:
        counts: Classes of the samples.
        verdicts: Mean verdict of the members of each class, in the order of `counts.classes`.
        invalid_verdict: Mean verdict of the samples without an answer; 0 if there are none.
        most: Largest number of voting samples, in 1..n.

    Returns:
        For each k the mean over all subsets of k samples, and over ties.

    Raises:
        ValueError: If `most` is out of range, or `verdicts` does not match the classes.
    """
    if len(verdicts) != len(counts.classes):
        raise ValueError(f"{len(verdicts)} verdicts but {len(counts.classes)} classes")
    chances = _winning_chances(_normalise(counts), _check_most(counts, most))
    curve = np.array(
        [comb(counts.invalid, k) / comb(counts.samples, k) for k in range(1, most + 1)]
    )
    curve *= invalid_verdict
    for size, verdict in zip(counts.classes, verdicts, strict=True):
        curve += chances[size] * verdict
    return tuple(curve.tolist())


def agreement_curve(counts: AnswerCounts, most: int) -> tuple[float, ...]:
    """Return the mean share of k samples that give their most frequent answer, for k = 1 to `most`.

    USNCO-V, equations 4 and 5.

    Args:
        counts: Classes of the samples; those without a valid answer count in the denominator.
        most: Largest number of compared samples, in 1..n.

    Returns:
        For each k the mean over all subsets of k samples.

    Raises:
        ValueError: If `most` is out of range.
    """
    _check_most(counts, most)
    classes, ks = Counter(counts.classes), np.arange(1, most + 1)
    totals = np.array([comb(counts.samples, int(k)) for k in ks], dtype=float)
    largest = min(most, max(counts.classes, default=0))
    expected = np.zeros(
        most
    )  # of the largest class: the sum over a of the probability that it has more
    for members in range(largest):
        if members == 0:
            within = np.array([comb(counts.invalid, int(k)) for k in ks], dtype=float)
        else:
            within = _ways_below(classes, counts.invalid, members, most)[1:].sum(axis=1)
        expected += 1 - within / totals
    return tuple((expected / ks).tolist())


def _check_most(counts: AnswerCounts, most: int) -> int:
    if not 1 <= most <= counts.samples:
        raise ValueError(f"k must be in 1..{counts.samples}, got {most}")
    return most


def _normalise(counts: AnswerCounts) -> AnswerCounts:
    return AnswerCounts(tuple(sorted(counts.classes)), counts.invalid)


@cache
def _winning_chances(counts: AnswerCounts, most: int) -> dict[int, Floats]:
    """Map class size -> probabilities that a class of this size wins, for k = 1 to `most`.

    A class wins with a members if no other has more, and with 1 / (t + 1) if t others also have
    a. The ways to draw from the others are coefficients of a product of polynomials.
    """
    multiplicity = Counter(counts.classes)
    chances = {size: np.zeros(most) for size in multiplicity}
    totals = np.array([comb(counts.samples, k) for k in range(1, most + 1)], dtype=float)
    for members in range(1, min(most, max(counts.classes, default=0)) + 1):
        shares = 1 / np.arange(1, (most - members) // members + 3)
        for size in (size for size in multiplicity if size >= members):
            others = multiplicity - Counter([size])
            ways = _ways_below(others, counts.invalid, members, most - members) @ shares
            chances[size][members - 1 :] += comb(size, members) * ways / totals[members - 1 :]
    return chances


def _ways_below(classes: Counter[int], invalid: int, most: int, samples: int) -> Floats:
    """Count draws of s samples with no class above `most` and t classes equal to it: [s, t]."""
    ways = np.zeros((samples + 1, samples // most + 2))
    drawn = np.arange(min(invalid, samples) + 1)
    ways[: len(drawn), 0] = [comb(invalid, int(number)) for number in drawn]
    for size, number in classes.items():
        for _ in range(number):
            ways = _draw_from_class(ways, size, most)
    return ways


def _draw_from_class(ways: Floats, size: int, most: int) -> Floats:
    """Extend the counts by a class of `size` samples, at most `most` of which are drawn."""
    more = np.zeros_like(ways)
    for number in range(min(size, most, len(ways) - 1) + 1):
        rows = ways[: len(ways) - number] * comb(size, number)
        if number == most:
            more[number:, 1:] += rows[:, :-1]
        else:
            more[number:] += rows
    return more
