"""Parts of OCR accuracy, computed by rules or by a judge, and their mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.ocr_quality.transcripts import (
    number_agreement,
    similarity,
    structure_agreement,
    weighted_mean,
)

PARTS = ("numbers", "terms", "semantics", "structure", "lexical")
"""The five parts of MathReal's OCR accuracy, in the paper's order."""
BY_RULE = ("numbers", "structure", "lexical")
"""Parts that need no judge."""
EQUAL_WEIGHTS = (1.0,) * len(PARTS)
"""Weights of the parts; the paper's formula is an image that our copy lacks."""


class RuleParts(NamedTuple):
    """How well a text preserves numbers, structure and characters of a printed one, in [0, 1]."""

    numbers: float
    structure: float
    lexical: float


def measure_rule_parts(text: str, reference: str) -> RuleParts:
    """Compute the parts that need no judge (MathReal, OCR accuracy evaluation).

    Args:
        text: The OCR text.
        reference: The printed text.
    """
    return RuleParts(
        number_agreement(text, reference),
        structure_agreement(text, reference),
        similarity(text, reference),
    )


def combine_parts(
    rules: RuleParts,
    terms: float | None,
    semantics: float | None,
    weights: Sequence[float] = EQUAL_WEIGHTS,
) -> float | None:
    """Return the OCR accuracy of a text: the weighted mean of its five parts, in [0, 1].

    Args:
        rules: The parts computed by rules.
        terms: The preserved share of key terms, by a judge; None if unknown.
        semantics: The preserved share of the meaning, by a judge.
        weights: Weights of the five parts, in the order of `PARTS`.

    Returns:
        The mean, or None if a part with a weight is unknown.
    """
    parts = (rules.numbers, terms, semantics, rules.structure, rules.lexical)
    return weighted_mean(parts, weights)
