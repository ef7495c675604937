"""Correction of an accuracy for the judge's errors (Rogan and Gladen 1978)."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt
from typing import NamedTuple

from omibench.statistics.quantiles import z_value


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
