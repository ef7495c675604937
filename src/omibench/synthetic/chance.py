"""Probability of a correct answer, and the ability for a given mean probability.

The three-parameter logistic model with a lower asymptote for guessing: Birnbaum, in Lord and
Novick, Statistical Theories of Mental Test Scores (1968), ch. 17.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

STEEPEST = 700.0
"""Above it `exp` overflows."""
WIDEST = 12.0


def chance(logit: float, guess: float) -> float:
    """Return P(correct) for an answer that is guessed right with probability `guess`."""
    return guess + (1 - guess) / (1 + math.exp(-max(-STEEPEST, min(STEEPEST, logit))))


def solve_ability(accuracy: float, items: Sequence[tuple[float, float]]) -> float:
    """Return the ability at which the mean probability over `items` is `accuracy`, in [-12, 12].

    An item is its difficulty (in logits, including other terms that lower the logit) and its
    guessing probability. An accuracy below guessing gives the lowest ability.
    """
    low, high = -WIDEST, WIDEST
    for _ in range(24):
        middle = (low + high) / 2
        mean = sum(chance(middle - difficulty, guess) for difficulty, guess in items) / len(items)
        low, high = (middle, high) if mean < accuracy else (low, middle)
    return round((low + high) / 2, 4)
