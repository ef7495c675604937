"""Saliency from log-probabilities: S = log P(uncovered) - log P(covered) of one option.

P is over the problem's options. S > 0: the patch covers evidence for the option; S < 0: evidence
against it (USNCO-V, Methods, equation 7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from omibench.stages.saliency.grid import Patch

Scores = Mapping[str, float]
"""Log-probability (nats) of each option."""


def normalise(scores: Scores) -> Scores:
    """Normalize log-probabilities over the options: exp of all of them sums to 1.

    Args:
        scores: Log-probability (nats) of each option among all possible next tokens.
    """
    total = _sum_logs(scores)
    return {option: value - total for option, value in scores.items()}


def measure_mass(scores: Scores) -> float:
    """Return the total probability of all options; `scores` as in `normalise`."""
    return min(1.0, math.exp(_sum_logs(scores)))


def _sum_logs(scores: Scores) -> float:
    top = max(scores.values())
    return top + math.log(sum(math.exp(value - top) for value in scores.values()))


class Effect(NamedTuple):
    """The effect of covering one position: `drop` in nats, positive if the option loses."""

    patch: Patch
    drop: float


def measure_effects(
    base: Scores, covered: Sequence[tuple[Patch, Scores]], option: str
) -> list[Effect]:
    """Return the effect of every position on one option, without positions that do not score it."""
    return [
        Effect(patch, base[option] - scores[option])
        for patch, scores in covered
        if option in scores
    ]


def measure_impact(patch_effects: Sequence[Effect]) -> float:
    """Return the occlusion impact r: the largest absolute effect, in nats; 0 without positions."""
    return max((abs(effect.drop) for effect in patch_effects), default=0.0)


def select_strongest(patch_effects: Sequence[Effect], top: int) -> list[Effect]:
    """Return the `top` largest absolute effects, largest first."""
    return sorted(patch_effects, key=lambda effect: -abs(effect.drop))[:top]
