"""Comparison of a problem with the page that it was read from."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind, Option
from omibench.review.kinds.parts import (
    ANSWER,
    CHOICES,
    FACTS,
    PAGES,
    PROBLEM,
    QUESTION,
    correct_parts,
)

PAGE: Final = Kind(
    name="page",
    title="Page check",
    instruction=(
        "Compare the problem with the page; the boxes show where it was read. Correct reading "
        "errors in words, numbers, formulas and options, and the answer if it differs from the "
        "key. Write formulas between dollar signs, and keep marks such as `[IMAGE0]` at the "
        "position of a picture. Remove the problem if it cannot be corrected from the page: parts "
        "are missing or illegible, or no answer is well defined. Also report pictures that are not "
        "those of the page or are cut off."
    ),
    parts=(*PROBLEM, PAGES, FACTS),
    fields=(
        Field(
            "usable",
            "Is the problem complete, if need be with your corrections?",
            "choice",
            options=(
                Option("usable", "Yes", "y"),
                Option("unusable", "No: remove it", "n", drops=True),
            ),
            critical=True,
        ),
        Field(
            "pictures",
            "Are all its pictures correct, complete and at their marks?",
            "choice",
            options=(
                Option("right", "Yes", "r"),
                Option("wrong", "No: remove it until they are fixed", "w", drops=True),
            ),
            critical=True,
        ),
        Field(
            "reasons",
            "Why should it be removed?",
            "choices",
            options=(
                Option("incomplete", "A part of it is missing", "1"),
                Option("misread", "Too many reading errors to correct", "2"),
                Option("unreadable", "A formula or picture is illegible", "3"),
                Option("no_answer", "No well-defined answer", "4"),
                Option("duplicate", "Already in the dataset", "5"),
            ),
            required=False,
            when=("usable", ("unusable",)),
        ),
        *correct_parts(QUESTION, CHOICES, ANSWER),
    ),
    source="OMIBench, A.2 (format conversion and filtering)",
)
