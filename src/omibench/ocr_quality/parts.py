"""The parts of OCR accuracy, those that rules tell and those that a judge tells, and their mean."""

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
"""The five parts of MathReal's OCR accuracy, in the order in which the paper names them."""
BY_RULE = ("numbers", "structure", "lexical")
"""Those that need no judge."""
EQUAL_WEIGHTS = (1.0,) * len(PARTS)
"""What the parts weigh: the paper's formula is an image, whose weights our copy does not hold."""


class RuleParts(NamedTuple):
    """How well a text keeps numbers, structure and characters of a printed one, in [0, 1]."""

    numbers: float
    structure: float
    lexical: float


def measure_rule_parts(text: str, reference: str) -> RuleParts:
    """Measure the parts that need no judge (MathReal, OCR accuracy evaluation).

    Args:
        text: As it was read.
        reference: As it is printed.
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
    """The OCR accuracy of a text: the weighted mean of its five parts, in [0, 1].

    Args:
        rules: The parts that rules tell.
        terms: The share of key terms that it keeps, by a judge; None where none says it.
        semantics: The share of the meaning that it keeps, by a judge.
        weights: Of the five parts, in the order of `PARTS`.

    Returns:
        The mean; None where a part that weighs anything is not known.
    """
    parts = (rules.numbers, terms, semantics, rules.structure, rules.lexical)
    return weighted_mean(parts, weights)
