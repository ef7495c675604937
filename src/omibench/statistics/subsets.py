"""What k of n samples are worth on average: votes and agreement over all subsets of k.

The n samples of a problem fall into classes of one answer each, and into those that hold none.
The first k samples are one subset of many; the mean over all of them, each as likely, is unbiased
for k fresh samples, as `estimators.pass_at_k` is for pass@k (Chen et al. 2021, section 2.1).
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
    """The samples of one problem: how many are in each class, and how many hold no answer."""

    classes: tuple[int, ...]
    """Sizes of the classes of equal answers, each at least 1."""
    invalid: int = 0

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return sum(self.classes) + self.invalid


def vote_at_k(
    counts: AnswerCounts, verdicts: Sequence[float], invalid_verdict: float, k: int
) -> float:
    """The mean verdict of the majority's answer among k of the samples (OMIBench, H.3).

    The largest class wins and ties are drawn; without any answer an invalid sample stands.

    Args:
        counts: The classes of the samples.
        verdicts: The mean verdict of the members of each class, in the order of `counts.classes`.
        invalid_verdict: The mean verdict of the samples that hold no answer; 0 without any.
        k: How many samples vote, in 1..n.

    Returns:
        The mean over all subsets of k samples, and over ties.

    Raises:
        ValueError: `k` is out of range, or `verdicts` is not a value for each class.
    """
    if len(verdicts) != len(counts.classes):
        raise ValueError(f"{len(verdicts)} verdicts but {len(counts.classes)} classes")
    chances = _winning_chances(_normalise(counts), _check_k(counts, k))
    won = sum(
        chances[size] * verdict for size, verdict in zip(counts.classes, verdicts, strict=True)
    )
    return won + invalid_verdict * comb(counts.invalid, k) / comb(counts.samples, k)


def agreement_at_k(counts: AnswerCounts, k: int) -> float:
    """The mean share of k samples that give their most frequent answer (USNCO-V, eqs. 4 and 5).

    Args:
        counts: The classes of the samples; those without a valid answer stay in the denominator.
        k: How many samples are compared, in 1..n.

    Returns:
        The mean over all subsets of k samples.

    Raises:
        ValueError: `k` is out of range.
    """
    return _agreement(_normalise(counts), _check_k(counts, k))


def _check_k(counts: AnswerCounts, k: int) -> int:
    if not 1 <= k <= counts.samples:
        raise ValueError(f"k must be in 1..{counts.samples}, got {k}")
    return k


def _normalise(counts: AnswerCounts) -> AnswerCounts:
    return AnswerCounts(tuple(sorted(counts.classes)), counts.invalid)


@cache
def _winning_chances(counts: AnswerCounts, k: int) -> dict[int, float]:
    """Size of a class -> the chance that one class of this size wins among k samples.

    A class wins with a members where no other has more, and with 1 / (t + 1) where t others have a
    as well. Ways to draw from the others are coefficients of a product of polynomials.
    """
    multiplicity = Counter(counts.classes)
    chances = dict.fromkeys(multiplicity, 0.0)
    total = comb(counts.samples, k)
    for members in range(1, min(k, max(counts.classes, default=0)) + 1):
        shares = 1 / np.arange(1, k // members + 2)
        for size in (size for size in multiplicity if size >= members):
            others = multiplicity - Counter([size])
            ways = _ways_below(others, counts.invalid, members, k)[k - members]
            chances[size] += comb(size, members) * float(ways @ shares) / total
    return chances


def _ways_below(classes: Counter[int], invalid: int, most: int, k: int) -> Floats:
    """How many ways draw s samples with no class above `most` and t classes at it: [s, t]."""
    ways = np.zeros((k + 1, k // most + 1))
    drawn = np.arange(min(invalid, k) + 1)
    ways[: len(drawn), 0] = [comb(invalid, int(number)) for number in drawn]
    for size, number in classes.items():
        for _ in range(number):
            ways = _draw_from_class(ways, size, most)
    return ways


def _draw_from_class(ways: Floats, size: int, most: int) -> Floats:
    """The ways with one more class of `size` samples, at most `most` of which are drawn."""
    more = np.zeros_like(ways)
    for number in range(min(size, most, len(ways) - 1) + 1):
        rows = ways[: len(ways) - number] * comb(size, number)
        if number == most:
            more[number:, 1:] += rows[:, :-1]
        else:
            more[number:] += rows
    return more


@cache
def _agreement(counts: AnswerCounts, k: int) -> float:
    """E[max] / k, where E[max] is the sum over a of the chance that the largest class has more."""
    total, largest = comb(counts.samples, k), min(k, max(counts.classes, default=0))
    classes = Counter(counts.classes)
    within = [comb(counts.invalid, k), *(
        _ways_below(classes, counts.invalid, most, k)[k].sum() for most in range(1, largest)
    )]  # fmt: skip
    return sum(1 - float(ways) / total for ways in within[:largest]) / k
