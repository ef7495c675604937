"""From log-probabilities to saliency: S = log P(uncovered) - log P(covered) of one option.

P is over the problem's options. S > 0: the patch covers what supports the option; S < 0: what
speaks against it (USNCO-V, Methods, equation 7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from omibench.stages.saliency.grid import Patch

Scores = Mapping[str, float]
"""Log-probability (nats) of each option."""


def normalise(scores: Scores) -> Scores:
    """Log-probabilities over the options alone: exp of all of them adds up to 1.

    Args:
        scores: Log-probability (nats) of each option among all that could come next.
    """
    total = _sum_logs(scores)
    return {option: value - total for option, value in scores.items()}


def measure_mass(scores: Scores) -> float:
    """The probability of all options together; `scores` as `normalise` takes them."""
    return min(1.0, math.exp(_sum_logs(scores)))


def _sum_logs(scores: Scores) -> float:
    top = max(scores.values())
    return top + math.log(sum(math.exp(value - top) for value in scores.values()))


class Effect(NamedTuple):
    """What covering one place does: `drop` in nats, positive where the option loses."""

    patch: Patch
    drop: float


def measure_effects(
    base: Scores, covered: Sequence[tuple[Patch, Scores]], option: str
) -> list[Effect]:
    """The effect of every position on one option. Positions that do not score it are left out."""
    return [
        Effect(patch, base[option] - scores[option])
        for patch, scores in covered
        if option in scores
    ]


def measure_impact(patch_effects: Sequence[Effect]) -> float:
    """The occlusion impact r: the largest effect, either way, in nats; 0 without positions."""
    return max((abs(effect.drop) for effect in patch_effects), default=0.0)


def select_strongest(patch_effects: Sequence[Effect], top: int) -> list[Effect]:
    """The `top` largest effects either way, largest first."""
    return sorted(patch_effects, key=lambda effect: -abs(effect.drop))[:top]
