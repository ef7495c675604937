"""Agreement measures of each field, with their intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from math import isnan
from typing import Final, NamedTuple

from omibench.review.agreement.readings import ReadTask, list_readings
from omibench.review.agreement.units import Comparison, list_comparisons
from omibench.review.kinds import KINDS
from omibench.review.report import AgreementFigure
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.statistics.raters import (
    Coefficient,
    CoefficientEstimate,
    Distance,
    Level,
    Ratings,
    count_ratings,
    estimate_agreement,
    estimate_by_resampling,
    estimate_nominal,
    make_alpha,
    make_cohen_kappa,
    make_fleiss_kappa,
)

AGREEMENT: Final = "agreement"
COHEN: Final = "cohen kappa"
WEIGHTED: Final = "cohen kappa (quadratic)"
FLEISS: Final = "fleiss kappa"
ALPHA: Final = "krippendorff alpha"
ALPHA_ORDINAL: Final = "krippendorff alpha (ordinal)"
ALPHA_INTERVAL: Final = "krippendorff alpha (interval)"
ALPHA_MASI: Final = "krippendorff alpha (MASI)"
MEASURES: Final = (
    AGREEMENT,
    COHEN,
    WEIGHTED,
    FLEISS,
    ALPHA,
    ALPHA_ORDINAL,
    ALPHA_INTERVAL,
    ALPHA_MASI,
)
"""All measures. The alphas differ in the distance between two values: nominal, rank on the scale
(ordinal), difference on the scale (interval), or distance between two sets (MASI).
"""


def measure_agreement(
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    confidence: float = 0.95,
    seed: int = 0,
) -> list[AgreementFigure]:
    """Measure the agreement of independent reviewers by kind of task and field.

    Single-valued fields have the share of equal values, Cohen's and Fleiss' kappa and
    Krippendorff's alpha. Ratings have Cohen's kappa with quadratic weights and the ordinal and
    interval alpha. Fields with several values have alpha with the MASI distance between sets, and
    the single-value measures for each option. `readings.list_readings` selects the decisions.

    Args:
        tasks: Tasks of every purpose.
        decisions: Decisions in any order.
        confidence: Two-sided level of the intervals, in (0, 1). They generalize to other problems
            with the same reviewers.
        seed: Seed of the resamples.

    Returns:
        Rows ordered by kind, field and measure. A value is None if it is undefined because all
        reviewers always gave the same value.
    """
    by_kind: dict[str, list[ReadTask]] = defaultdict(list)
    for read in list_readings(tasks, decisions):
        by_kind[read.task.kind].append(read)
    return [
        _write_figure(name, comparison, measurement)
        for name, kind in KINDS.items()
        for comparison in list_comparisons(kind, by_kind[name])
        for measurement in _measure(comparison, confidence, seed)
    ]


def measure_masi_distance(first: Hashable, second: Hashable) -> float:
    """1 - MASI of two sets, in [0, 1] (Passonneau 2006): the Jaccard index, times 1 if the sets are
    equal, 2/3 if one contains the other, 1/3 if they overlap, 0 if they are disjoint.
    """
    if first == second:
        return 0.0
    if not isinstance(first, frozenset) or not isinstance(second, frozenset):
        return 1.0
    shared = first & second
    if not shared:
        return 1.0
    weight = 2 / 3 if first <= second or second <= first else 1 / 3
    return 1 - weight * len(shared) / len(first | second)


_DISTANCES: Final[Mapping[str, Mapping[str, Level | Distance]]] = {
    "rating": {ALPHA_ORDINAL: "ordinal", ALPHA_INTERVAL: "interval"},
    "set": {ALPHA_MASI: measure_masi_distance},
}
"""The alphas of each scale that defines distances between values."""


class _Measurement(NamedTuple):
    """Build the figure of one measure over a number of units."""

    measure: str
    estimate: CoefficientEstimate
    units: int
    between: str = ""


def _measure(comparison: Comparison, confidence: float, seed: int) -> Iterator[_Measurement]:
    ratings = count_ratings(comparison.units, comparison.values)
    units = len(comparison.units)
    share = estimate_agreement(ratings, confidence)
    yield _Measurement(AGREEMENT, CoefficientEstimate(share.mean, share.lo, share.hi), units)
    if comparison.pairs and comparison.scale != "set":
        yield _measure_pairs(comparison, confidence, seed)
    if comparison.scale == "nominal":
        for measure, coefficient in (
            (FLEISS, make_fleiss_kappa(ratings)),
            (ALPHA, make_alpha(ratings)),
        ):
            estimate = estimate_nominal(coefficient, ratings.n_clusters, share)
            yield _Measurement(measure, estimate, units)
        return
    for measure, level in _DISTANCES[comparison.scale].items():
        estimate = _estimate_distances(ratings, make_alpha(ratings, level), confidence, seed)
        yield _Measurement(measure, estimate, units)


def _measure_pairs(comparison: Comparison, confidence: float, seed: int) -> _Measurement:
    """Return Cohen's kappa of the two sides."""
    pairs, is_rating = comparison.pairs, comparison.scale == "rating"
    ratings = count_ratings(pairs, comparison.values)
    coefficient = make_cohen_kappa(pairs, comparison.sides, ratings.values, quadratic=is_rating)
    if is_rating:
        estimate = _estimate_distances(ratings, coefficient, confidence, seed)
    else:
        share = estimate_agreement(ratings, confidence)
        estimate = estimate_nominal(coefficient, ratings.n_clusters, share)
    measure = WEIGHTED if is_rating else COHEN
    return _Measurement(measure, estimate, len(pairs), " and ".join(comparison.sides))


def _estimate_distances(
    ratings: Ratings, coefficient: Coefficient, confidence: float, seed: int
) -> CoefficientEstimate:
    """Return an alpha; if all values agree, use the lower bound of the nominal one."""
    estimate = estimate_by_resampling(coefficient, ratings.n_clusters, confidence, seed)
    if estimate.value < 1:
        return estimate
    share = estimate_agreement(ratings, confidence)
    return estimate_nominal(make_alpha(ratings), ratings.n_clusters, share)


def _write_figure(kind: str, comparison: Comparison, measurement: _Measurement) -> AgreementFigure:
    value, low, high = (
        None if isnan(number) else round(number, 6) for number in measurement.estimate
    )
    return AgreementFigure(
        kind=kind,
        field=comparison.field,
        measure=measurement.measure,
        value=value,
        low=low,
        high=high,
        tasks=comparison.tasks,
        people=comparison.people,
        simulated=comparison.simulated,
        option=comparison.option,
        units=measurement.units,
        between=measurement.between,
    )
