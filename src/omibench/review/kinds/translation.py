"""Comparison of a translated problem with its original."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind, Option, Part
from omibench.review.kinds.parts import CHOICES, FACTS, PROBLEM, QUESTION, correct_parts

ORIGINAL_QUESTION: Final = Part("original_question", "Original question", "markdown")
ORIGINAL_CHOICES: Final = Part("original_choices", "Original choices", "choices")

TRANSLATION: Final = Kind(
    name="translation",
    title="Translation check",
    instruction=(
        "Compare the translation with the original, sentence by sentence: conditions, negations, "
        "numbers, units, symbols and names of quantities. Correct differences, and terms that an "
        "English exam paper would not use. If a word or condition of the original has several "
        "meanings and the context does not decide between them, the problem is ambiguous and is "
        "removed from the dataset."
    ),
    parts=(ORIGINAL_QUESTION, ORIGINAL_CHOICES, *PROBLEM, FACTS),
    fields=(
        Field(
            "translation",
            "The translation is ...",
            "choice",
            options=(
                Option("verified", "Correct", "v"),
                Option("corrected", "Correct with my changes", "c"),
                Option("ambiguous", "Ambiguous: remove the problem", "a", drops=True),
            ),
            critical=True,
        ),
        *correct_parts(QUESTION, CHOICES),
    ),
    source="OMIBench, A.2 (multilingual translation and verification)",
)
