"""From log-probabilities to saliency: S = log P(uncovered) - log P(covered) of one option.

S > 0: the patch covers what supports the option; S < 0: what speaks against it (USNCO-V, Methods).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from omibench.stages.saliency.grid import Patch

Scores = Mapping[str, float]
"""Log-probability (nats) of each option."""


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


def find_best_option(base: Scores) -> str:
    """The option that the model chooses with nothing covered; the first of equals."""
    return max(base, key=lambda option: base[option])


def measure_impact(patch_effects: Sequence[Effect]) -> float:
    """The occlusion impact r: the largest effect, either way, in nats; 0 without positions."""
    return max((abs(effect.drop) for effect in patch_effects), default=0.0)


def select_strongest(patch_effects: Sequence[Effect], top: int) -> list[Effect]:
    """The `top` largest effects either way, largest first."""
    return sorted(patch_effects, key=lambda effect: -abs(effect.drop))[:top]
