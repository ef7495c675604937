"""Agreement of a judge with human labels, and the correction of an accuracy for its errors.

Several responses to one problem are not independent: intervals use the effective number of
labels, clustered by problem group, or resample whole groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isnan, nan, sqrt
from typing import Literal, NamedTuple

import numpy as np

from omibench.results.statistics.correlation import spearman
from omibench.results.statistics.intervals import (
    Codes,
    Estimate,
    Floats,
    clustered_ratio,
    clustered_wilson,
    number_labels,
    z_value,
)
from omibench.schemas.certificate import JudgeQuality, Measure
from omibench.schemas.verdict import RIGHT


def judge_quality(
    labels: Sequence[float],
    verdicts: Sequence[float],
    clusters: Sequence[str],
    judged: Estimate,
    confidence: float = 0.95,
) -> JudgeQuality:
    """Compare the judge's `verdicts` with `labels` (both in [0, 1]) of the same responses.

    `judged` is the share of responses that the judge accepts among all that it scored, labelled
    or not; this share is corrected.
    """
    right = [float(label >= RIGHT) for label in labels]
    says = [float(verdict >= RIGHT) for verdict in verdicts]
    agrees = [float(a == b) for a, b in zip(right, says, strict=True)]

    def share(values: Sequence[float], mask: Sequence[bool]) -> Estimate:
        pairs = [(v, c) for v, c, keep in zip(values, clusters, mask, strict=True) if keep]
        return clustered_wilson([v for v, _ in pairs], [c for _, c in pairs], confidence)

    everywhere = [True] * len(labels)
    agreement = share(agrees, everywhere)
    tpr, fpr = share(says, [r == 1 for r in right]), share(says, [r == 0 for r in right])
    fixed = rogan_gladen(
        Share(judged.mean, judged.n_eff), Share(tpr.mean, tpr.n_eff), Share(fpr.mean, fpr.n_eff),
        confidence,
    )  # fmt: skip
    return JudgeQuality(
        agreement=share_measure(agreement),
        kappa=kappa_measure(agreement, right, says),
        **binary_measures(agreement, right, says, clusters, confidence),
        spearman=spearman_measure(labels, verdicts, clusters, confidence),
        tpr=share_measure(tpr),
        fpr=share_measure(fpr),
        share_right=share_measure(share(right, everywhere)),
        judged_right=share_measure(judged),
        corrected=_make_measure(fixed.value, fixed.lo, fixed.hi, judged.n),
    )


def cohens_kappa(agreement: float, first: Sequence[object], second: Sequence[object]) -> float:
    """Return Cohen's kappa of two ratings from their agreement; NaN if chance agreement is 1.

    kappa = (agreement - chance) / (1 - chance), with chance from the two margins (Cohen 1960).
    """
    n = len(first)
    if not n:
        return nan
    first_counts, second_counts = Counter(first), Counter(second)
    chance = sum(first_counts[value] * second_counts[value] for value in first_counts) / (n * n)
    return nan if chance >= 1 else (agreement - chance) / (1 - chance)


def kappa_measure(
    agreement: Estimate, first: Sequence[object], second: Sequence[object]
) -> Measure:
    """Return Cohen's kappa with the interval implied by that of the agreement.

    Chance agreement is treated as known, as by Cohen; with Wilson's bounds, full agreement has a
    non-trivial interval.
    """
    value, lo, hi = (
        cohens_kappa(share, first, second) for share in (agreement.mean, agreement.lo, agreement.hi)
    )
    return _make_measure(value, lo, hi, agreement.n)


def binary_measures(
    agreement: Estimate,
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Hashable],
    confidence: float,
) -> dict[str, Measure]:
    """Return the agreement of two binary ratings by measures that a high prevalence leaves usable.

    Args:
        agreement: The share of equal ratings.
        first: 0 or 1 for each unit.
        second: The same by the other rater.
        clusters: Cluster of each unit.
        confidence: Two-sided level of the intervals, in (0, 1).

    Returns:
        `ac1` (`make_ac1`), and `positive` and `negative`, the share of the ratings 1 and 0 that
        the other rater shares (`specific_agreement`).
    """
    units = [
        Unit(cluster, {"first": a, "second": b})
        for cluster, a, b in zip(clusters, first, second, strict=True)
    ]
    ratings = count_ratings(units, (0.0, 1.0))
    measures = {}
    if units:
        ac1 = estimate_nominal(make_ac1(ratings), ratings.n_clusters, agreement)
        measures["ac1"] = _make_measure(*ac1, agreement.n)
    for name, value in (("positive", 1.0), ("negative", 0.0)):
        specific = specific_agreement(ratings, value, confidence)
        measures[name] = _make_measure(specific.mean, specific.lo, specific.hi, specific.n)
    return measures


def spearman_measure(
    labels: Sequence[float], verdicts: Sequence[float], clusters: Sequence[str], confidence: float
) -> Measure:
    """Return the rank correlation of human labels and the judge's verdicts."""
    if not labels:
        return Measure(value=None, lo=None, hi=None, n=0)
    return _make_measure(*spearman(labels, verdicts, clusters, confidence), len(labels))


def share_measure(estimate: Estimate) -> Measure:
    """Return a share with its interval."""
    measure = _make_measure(estimate.mean, estimate.lo, estimate.hi, estimate.n)
    return measure.model_copy(update={"n_eff": round(estimate.n_eff, 6)})


def _make_measure(value: float, lo: float, hi: float, n: int) -> Measure:
    if isnan(value):
        return Measure(value=None, lo=None, hi=None, n=n)
    rounded_values = [None if isnan(x) else round(x, 6) for x in (value, lo, hi)]
    return Measure(value=rounded_values[0], lo=rounded_values[1], hi=rounded_values[2], n=n)


class Share(NamedTuple):
    """A share of `n` independent values; `n` can be an effective sample size."""

    value: float
    n: float


class Corrected(NamedTuple):
    """A corrected share with its interval, all in [0, 1]; NaN and (0, 1) if undetermined."""

    value: float
    lo: float
    hi: float


UNTOLD = Corrected(nan, 0.0, 1.0)


def rogan_gladen(judged: Share, tpr: Share, fpr: Share, confidence: float = 0.95) -> Corrected:
    """Estimate the correct share from the share accepted by the judge and its two error rates.

    (accepted - fpr) / (tpr - fpr), with the interval of Lang and Reiczigel (2014), which
    includes the uncertainty of all three. A judge that cannot distinguish right from wrong (tpr
    <= fpr) determines nothing.
    """
    if min(judged.n, tpr.n, fpr.n) <= 0 or tpr.value <= fpr.value:
        return UNTOLD
    z = z_value(confidence)
    n = judged.n + z * z
    p = (judged.n * judged.value + z * z / 2) / n
    n_right, n_wrong = tpr.n + 2, fpr.n + 2
    sensitivity = (tpr.n * tpr.value + 1) / n_right
    specificity = (fpr.n * (1 - fpr.value) + 1) / n_wrong
    gain = sensitivity + specificity - 1
    if gain <= 0:
        return UNTOLD
    share = (p + specificity - 1) / gain
    v_right = sensitivity * (1 - sensitivity) / n_right
    v_wrong = specificity * (1 - specificity) / n_wrong
    shift = 2 * z * z * (share * v_right - (1 - share) * v_wrong)
    half = z * sqrt(p * (1 - p) / n + share**2 * v_right + (1 - share) ** 2 * v_wrong) / gain
    value = _clip_share((judged.value - fpr.value) / (tpr.value - fpr.value))
    lo, hi = _clip_share(share + shift - half), _clip_share(share + shift + half)
    return Corrected(value, min(lo, value), max(hi, value))


def combine_parts(parts: Sequence[tuple[float, Corrected]]) -> Corrected:
    """Return the weighted mean of corrected shares of disjoint parts; intervals by MOVER.

    Zou and Donner (2008): squared distances to the bounds add up.
    """
    total = sum(weight for weight, _ in parts)
    if total <= 0 or any(isnan(part.value) for _, part in parts):
        return UNTOLD
    shares = [(weight / total, part) for weight, part in parts]
    value = sum(w * part.value for w, part in shares)
    below = sqrt(sum((w * (part.value - part.lo)) ** 2 for w, part in shares))
    above = sqrt(sum((w * (part.hi - part.value)) ** 2 for w, part in shares))
    return Corrected(value, _clip_share(value - below), _clip_share(value + above))


def _clip_share(share: float) -> float:
    return min(1.0, max(0.0, share))


# Agreement beyond chance between annotators who rate the same units.
#
# Coefficients are 1 - observed / expected disagreement. scikit-learn has Cohen's kappa and
# statsmodels Fleiss' (tests compare ours with both); neither supports missing ratings or thousands
# of resamples, and neither has Krippendorff's alpha. Each coefficient here is a function of the
# weights of all clusters of units, so that all resamples are computed together. Intervals are for a
# fixed set of annotators; the units are the sample.

RESAMPLES = 2000


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
    clusters: Codes

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
    return Ratings(tuple(codes), counts, number_labels(unit.cluster for unit in rated))


class Disagreement(NamedTuple):
    """Mean disagreement of two ratings of a unit, and its chance expectation: [draws]."""

    observed: Floats
    expected: Floats

    @property
    def coefficient(self) -> Floats:
        """Return 1 - observed / expected: [draws]; NaN if no disagreement is expected."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = self.observed / self.expected
        return np.where(self.expected > 0, 1 - ratio, np.nan)


Coefficient = Callable[[Floats], Disagreement]
"""Maps weights of clusters, [draws, clusters], to the disagreement of each draw."""
Level = Literal["nominal", "ordinal", "interval"]
Distance = Callable[[Hashable, Hashable], float]


def make_alpha(ratings: Ratings, level: Level | Distance = "nominal") -> Coefficient:
    """Compute Krippendorff's alpha of any number of annotators, with missing ratings.

    Krippendorff, Content Analysis (2019), section 12.3: coincidences of each unit count 1 / (m -
    1) for its m ratings. The ordinal distance is that of midranks, squared.

    Args:
        ratings: Units with at least two ratings.
        level: Scale of the values; numbers for `interval`; for another distance, a function of
            two values that is 0 if they are equal.
    """
    sizes = ratings.counts.sum(axis=1)
    scaled = ratings.counts / (sizes - 1)[:, None]
    margins = ratings.sum_clusters(ratings.counts)
    if level == "ordinal":
        each = np.einsum("uc,uk->uck", scaled, ratings.counts)
        coincidences = ratings.sum_clusters(each)
        return lambda weights: _compare_ranks(weights, margins, coincidences)
    distances = measure_distances(ratings.values, level)
    disagreements = ratings.sum_clusters(
        np.einsum("uc,ck,uk->u", scaled, distances, ratings.counts, optimize=True)
    )

    def compute(weights: Floats) -> Disagreement:
        totals = weights @ margins
        number = totals.sum(axis=1)
        expected = np.einsum("bc,bc->b", totals @ distances, totals) / (number - 1)
        return _divide(weights @ disagreements, expected, number)

    return compute


def _compare_ranks(weights: Floats, margins: Floats, coincidences: Floats) -> Disagreement:
    """Return the disagreement of ordinal values, whose distances depend on the value counts."""
    totals = weights @ margins
    ranks = np.cumsum(totals, axis=1) - totals / 2
    squares = (ranks[:, :, None] - ranks[:, None, :]) ** 2
    observed = np.einsum("bck,bck->b", np.tensordot(weights, coincidences, axes=1), squares)
    expected = np.einsum("bc,bck,bk->b", totals, squares, totals, optimize=True)
    number = totals.sum(axis=1)
    return _divide(observed, expected / (number - 1), number)


def _divide(observed: Floats, expected: Floats, number: Floats) -> Disagreement:
    """Return the disagreement per rating; NaN without ratings."""
    with np.errstate(invalid="ignore"):
        return Disagreement(observed / number, expected / number)


def make_fleiss_kappa(ratings: Ratings) -> Coefficient:
    """Compute Fleiss' kappa of any annotators, with at least two ratings per unit.

    Fleiss 1971, equations 2 to 8; if units differ in their number of ratings, the share of each
    value is that among all ratings (Fleiss, Levin and Paik 2003, section 18.3).
    """
    disagreements = ratings.sum_clusters(1 - share_of_pairs(ratings))
    margins = ratings.sum_clusters(ratings.counts)
    units = ratings.sum_clusters(np.ones(len(ratings.clusters)))

    def compute(weights: Floats) -> Disagreement:
        totals = weights @ margins
        shares = totals / totals.sum(axis=1, keepdims=True)
        observed = weights @ disagreements / (weights @ units)
        return Disagreement(observed, 1 - (shares**2).sum(axis=1))

    return compute


def make_ac1(ratings: Ratings) -> Coefficient:
    """Compute Gwet's AC1 of any annotators, with at least two ratings per unit.

    Chance agreement is the sum of p (1 - p) over the q given values, over q - 1, where p is the
    mean share of a value over units (Gwet 2008, British Journal of Mathematical and Statistical
    Psychology 61, 29-48): it falls where one value prevails, whereas that of kappa rises.
    """
    sizes = ratings.counts.sum(axis=1, keepdims=True)
    disagreements = ratings.sum_clusters(1 - share_of_pairs(ratings))
    margins = ratings.sum_clusters(ratings.counts / sizes)
    units = ratings.sum_clusters(np.ones(len(ratings.clusters)))
    others = max(1, len(ratings.values) - 1)

    def compute(weights: Floats) -> Disagreement:
        number = weights @ units
        shares = weights @ margins / number[:, None]
        chance = (shares * (1 - shares)).sum(axis=1) / others
        return Disagreement(weights @ disagreements / number, 1 - chance)

    return compute


def specific_agreement(ratings: Ratings, value: Hashable, confidence: float = 0.95) -> Estimate:
    """Return the share of the ratings of one value that another annotator of the unit shares.

    For a binary scale these are positive and negative agreement (Cicchetti and Feinstein 1990,
    Journal of Clinical Epidemiology 43, 551-558): 2 a / (2 a + b + c) for two annotators, here
    over all ordered pairs of annotators of a unit. Of two annotators, the interval is Wilson's of
    the share r of units with this value on which both agree, as 2 r / (1 + r); of more, that of
    `clustered_ratio`.

    Args:
        ratings: Units with at least two ratings.
        value: The value.
        confidence: Two-sided level of the interval, in (0, 1).
    """
    if value not in ratings.values:
        return clustered_ratio([], [], [], confidence)
    chosen, sizes = ratings.counts[:, ratings.values.index(value)], ratings.counts.sum(axis=1)
    rated = chosen > 0
    chosen, sizes, clusters = chosen[rated], sizes[rated], ratings.clusters[rated].tolist()
    if (sizes == 2).all():
        units = clustered_wilson((chosen == 2).astype(float), clusters, confidence)
        mean, low, high = (2 * share / (1 + share) for share in (units.mean, units.lo, units.hi))
        return units._replace(mean=mean, lo=low, hi=high)
    parts, wholes = chosen * (chosen - 1), chosen * (sizes - 1)
    return clustered_ratio(parts.tolist(), wholes.tolist(), clusters, confidence)


def make_cohen_kappa(
    units: Sequence[Unit], sides: tuple[str, str], order: Sequence[Hashable], quadratic: bool
) -> Coefficient:
    """Compute Cohen's kappa of two annotators.

    Cohen 1960; `quadratic` weights a disagreement by the squared distance of the values on the
    scale (Cohen 1968), which must be numbers.

    Args:
        units: Units rated by both.
        sides: Names of the two in `Unit.values`.
        order: Values of the scale.
        quadratic: Whether values are numbers whose distance counts.
    """
    codes = {value: code for code, value in enumerate(order)}
    first, second = ([codes[unit.values[side]] for unit in units] for side in sides)
    distances = measure_distances(order, "interval" if quadratic else "nominal")
    clusters = number_labels(unit.cluster for unit in units)
    tables = np.zeros((int(clusters.max(initial=-1)) + 1, 2, len(codes)))
    disagreements = np.zeros(len(tables))
    for side, values in enumerate((first, second)):
        np.add.at(tables, (clusters, np.full(len(values), side), np.array(values, dtype=int)), 1)
    np.add.at(disagreements, clusters, distances[first, second])

    def compute(weights: Floats) -> Disagreement:
        totals = np.tensordot(weights, tables, axes=1)
        number = totals[:, 0].sum(axis=1)
        expected = np.einsum("bc,bc->b", totals[:, 0] @ distances, totals[:, 1]) / number**2
        return Disagreement(weights @ disagreements / number, expected)

    return compute


def share_of_pairs(ratings: Ratings) -> Floats:
    """Return the share of pairs of annotators that agree on each unit, in [0, 1] (Fleiss 1971, eq.
    2).
    """
    sizes = ratings.counts.sum(axis=1)
    pairs = (ratings.counts * (ratings.counts - 1)).sum(axis=1)
    return np.asarray(pairs / (sizes * (sizes - 1)))


def measure_distances(values: Sequence[Hashable], level: Level | Distance) -> Floats:
    """Return the distance of every two values: [values, values].

    Args:
        values: Values of the scale.
        level: `nominal` is 1 for any two different values, `interval` their squared difference.
    """
    if callable(level):
        return np.array([[level(a, b) for b in values] for a in values], dtype=float)
    if level == "interval":
        numbers = np.array([float(str(value)) for value in values])
        return np.asarray((numbers[:, None] - numbers[None, :]) ** 2)
    return 1 - np.eye(len(values))


class CoefficientEstimate(NamedTuple):
    """A coefficient of agreement, at most 1, with its interval; NaN if undefined."""

    value: float
    low: float
    high: float


def estimate_agreement(ratings: Ratings, confidence: float = 0.95) -> Estimate:
    """Estimate the share of pairs of annotators that agree on a unit, with Wilson's interval.

    Args:
        ratings: Units with at least two ratings.
        confidence: Two-sided level, in (0, 1).
    """
    return clustered_wilson(share_of_pairs(ratings).tolist(), ratings.clusters.tolist(), confidence)


def estimate_nominal(
    coefficient: Coefficient, clusters: int, agreement: Estimate
) -> CoefficientEstimate:
    """Estimate a nominal coefficient with the interval implied by that of the agreement.

    Chance agreement is treated as known, as in Cohen's first interval (1960). In simulation, 95
    % intervals cover 92 to 98 % at 30 and 100 units of two and of four annotators, kappa 0.17 to
    0.90; those of a percentile bootstrap 86 to 100 %.

    Args:
        coefficient: Coefficient with the distance `nominal`.
        clusters: Number of clusters of units.
        agreement: Share of agreeing pairs, with its interval (`estimate_agreement`).

    Returns:
        The lower end is at least -1, the minimum of these coefficients.
    """
    sample = _compute_sample(coefficient, clusters)
    value = float(sample.coefficient[0])
    if isnan(value):
        return CoefficientEstimate(nan, nan, nan)
    chance = float(sample.expected[0])
    if value < 1:  # the one for which the share gives the value, if units differ in weight
        chance = (1 - agreement.mean) / (1 - value)
    low, high = (1 - (1 - share) / chance for share in (agreement.lo, agreement.hi))
    return CoefficientEstimate(value, max(-1.0, low), high)


def estimate_by_resampling(
    coefficient: Coefficient,
    clusters: int,
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> CoefficientEstimate:
    """Estimate a coefficient with its percentile interval over resampled clusters.

    For distances with more than two values. In simulation, 95 % intervals of five ordered values
    cover 93 to 98 % at 30 and 100 units.

    Args:
        coefficient: Coefficient with any distance.
        clusters: Number of clusters of units.
        confidence: Two-sided level, in (0, 1).
        seed: Random seed.
        resamples: Number of resamples.

    Returns:
        The bounds are NaN without disagreement or with a single cluster, because resampling
        shows no variation.
    """
    value = float(_compute_sample(coefficient, clusters).coefficient[0])
    if isnan(value) or value == 1 or clusters < 2:
        return CoefficientEstimate(value, nan, nan)
    values = coefficient(_draw_weights(clusters, seed, resamples)).coefficient
    tail = 50 * (1 - confidence)
    low, high = np.nanpercentile(values, [tail, 100 - tail])
    return CoefficientEstimate(value, min(float(low), value), max(float(high), value))


@lru_cache(maxsize=1)
def _draw_weights(clusters: int, seed: int, resamples: int) -> Floats:
    """Draw the weight of each cluster in each resample: [resamples, clusters].

    The last draw is cached: the fields of a form have the same units, and drawing takes most of
    the time.
    """
    generator = np.random.default_rng(seed)
    weights = generator.multinomial(clusters, np.full(clusters, 1 / clusters), resamples)
    counts = weights.astype(float)
    counts.flags.writeable = False
    return counts


def _compute_sample(coefficient: Coefficient, clusters: int) -> Disagreement:
    return coefficient(np.ones((1, clusters)))
