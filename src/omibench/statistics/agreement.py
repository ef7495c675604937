"""Agreement of a judge with human labels, and the correction of an accuracy for its errors.

Several responses to one problem are not independent: intervals use the effective number of
labels, clustered by problem group, or resample whole groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isnan, nan, sqrt
from typing import NamedTuple

from omibench.schemas.certificate import JudgeQuality, Measure
from omibench.schemas.verdict import RIGHT
from omibench.statistics.clustered_correlation import spearman
from omibench.statistics.intervals import Estimate, clustered_wilson
from omibench.statistics.quantiles import z_value


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
