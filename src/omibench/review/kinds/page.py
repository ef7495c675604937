"""A problem as it was read from a paper, held against the page."""

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
        "Compare the problem with the page, whose boxes say where it was read. Correct what was "
        "misread: words, numbers, formulas, options, and the answer where the key says another "
        "one. Write formulas between dollar signs, and leave marks such as `[IMAGE0]` where a "
        "picture stands. Take the problem out if it cannot be mended from the page: parts of it "
        "are missing or cannot be read, or no answer is well defined. Say so, too, where its "
        "pictures are not those of the page or parts of them are cut off."
    ),
    parts=(*PROBLEM, PAGES, FACTS),
    fields=(
        Field(
            "usable",
            "Is the problem whole, perhaps after your corrections?",
            "choice",
            options=(
                Option("usable", "Yes", "y"),
                Option("unusable", "No: take it out", "n", drops=True),
            ),
            critical=True,
        ),
        Field(
            "pictures",
            "Are its pictures right: all of them, whole, at their marks?",
            "choice",
            options=(
                Option("right", "Yes", "r"),
                Option("wrong", "No: take it out until they are mended", "w", drops=True),
            ),
            critical=True,
        ),
        Field(
            "reasons",
            "Why is it to be taken out?",
            "choices",
            options=(
                Option("incomplete", "A part of it is missing", "1"),
                Option("misread", "It is misread beyond mending", "2"),
                Option("unreadable", "A formula or picture cannot be read", "3"),
                Option("no_answer", "No answer, or none that is well defined", "4"),
                Option("duplicate", "The dataset has it already", "5"),
            ),
            required=False,
            when=("usable", ("unusable",)),
        ),
        *correct_parts(QUESTION, CHOICES, ANSWER),
    ),
    source="OMIBench, A.2 (format conversion and filtering)",
)
