"""Whether a judge errs equally often on the responses of all models, or of all answer types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Final, NamedTuple

import numpy as np

from omibench.extras import require_extra
from omibench.results.statistics.intervals import adjust_holm
from omibench.results.statistics.paired import ALPHA
from omibench.schemas.certificate import ALL_TYPES, Certificate, Measure

RATES: Final = ("tpr", "fpr")
FEWEST: Final = 10
"""The minimum number of labels of a group in a test of one error rate."""
DRAWS: Final = 9999
"""Random tables of a test of more than two groups: its smallest p is 1 in 10,000."""


class RateTest(NamedTuple):
    """A test of one error rate of a judge: is it equal in all groups of labels?"""

    by: str
    """What distinguishes the groups: `model` or `answer_type`."""
    rate: str
    """`tpr` or `fpr`."""
    groups: int
    """Groups with `FEWEST` labels at least; the test needs two."""
    labels: int
    """Labels of these groups."""
    lowest: float
    """The lowest rate of these groups, in [0, 1]."""
    highest: float
    p: float
    """NaN for fewer than two groups."""
    adjusted: float
    """p adjusted by Holm over all tests."""

    @property
    def differs(self) -> bool:
        """Whether equal rates are rejected."""
        return self.adjusted < ALPHA

    def __str__(self) -> str:
        return f"{self.rate.upper()} by {self.by.replace('_', ' ')}"


def compare_rates(certificate: Certificate) -> list[RateTest]:
    """Test whether the error rates of a judge are equal for all models, and all answer types.

    Fisher's exact test of the judge's verdicts by group; for more than two groups by random
    tables with the same margins, from a fixed seed. Several labels of a problem are replaced by
    their effective number (Rao and Scott 1992, Biometrics 48, 577-585), rounded.

    Args:
        certificate: The judge's certificate.

    Returns:
        A test per division (`model`, `answer_type`) and rate, adjusted by Holm together.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    require_extra("stats", "the comparison of the judge's error rates", "scipy")
    kinds = {kind: q for kind, q in certificate.quality.items() if kind != ALL_TYPES}
    divisions = {"model": certificate.by_model, "answer_type": kinds}
    tests = [
        _compare(by, rate, {name: getattr(quality, rate) for name, quality in groups.items()})
        for by, groups in divisions.items()
        for rate in RATES
    ]
    adjusted = adjust_holm([test.p for test in tests])
    return [test._replace(adjusted=float(p)) for test, p in zip(tests, adjusted, strict=True)]


def describe_doubts(tests: Sequence[RateTest]) -> str:
    """Return which error rates differ, and which the labels cannot tell; "" if neither."""
    differ = [str(test) for test in tests if test.differs]
    unknown = [str(test) for test in tests if isnan(test.p)]
    doubts = [f"the judge's errors differ ({', '.join(differ)})"] if differ else []
    if unknown:
        doubts.append(f"too few labels to compare the judge's {', '.join(unknown)}")
    return "; ".join(doubts)


def _compare(by: str, rate: str, groups: Mapping[str, Measure]) -> RateTest:
    from scipy.stats import MonteCarloMethod, fisher_exact

    large = [measure for measure in groups.values() if measure.n >= FEWEST]
    values = [measure.value for measure in large if measure.value is not None]
    p = nan
    if len(values) > 1:
        table = np.array([*map(list, map(_count, large))])
        method = MonteCarloMethod(DRAWS, rng=np.random.default_rng(0)) if len(table) > 2 else None
        p = float(fisher_exact(table, method=method).pvalue)
    labels = sum(measure.n for measure in large)
    ends = (min(values, default=nan), max(values, default=nan))
    return RateTest(by, rate, len(values), labels, *ends, p, nan)


def _count(measure: Measure) -> Iterator[int]:
    """Return the effective numbers of responses called right and called wrong."""
    size, share = measure.n_eff or measure.n, measure.value or 0.0
    yield round(size * share)
    yield round(size * (1 - share))
