"""Review of an item in its final form: validity, quality and defects."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Contradiction, Field, Kind, Option
from omibench.review.kinds.parts import (
    ANSWER,
    CHOICES,
    FACTS,
    ITEM_LABELS,
    PROBLEM,
    QUESTION,
    SOLUTION,
    correct_parts,
)

DEFECTS: Final = (
    Option("ambiguous_statement", "The statement is ambiguous", "1"),
    Option("misleading_image", "A picture misleads", "2"),
    Option("wrong_solution", "The solution is wrong", "3"),
    Option("wrong_answer", "The answer is wrong", "4"),
    Option("image_not_needed", "The pictures are not needed", "5"),
    Option("unreadable", "Text or picture cannot be read", "6"),
    Option("text_image_mismatch", "Text and pictures do not fit together", "7"),
    Option("other", "Another defect, described in the comment", "8"),
)

ITEM: Final = Kind(
    name="item",
    title="Item",
    instruction=(
        "Read the item as a user of the dataset would, and solve it. Decide whether it can be "
        "solved in its current form, whether text and pictures match, and whether answer and "
        "solution are correct. Quality: 5 is an item that you would be glad to have written, 3 is "
        "acceptable, 1 should not be in a dataset. Your corrections below the form apply only if "
        "the item is valid with them."
    ),
    parts=(*PROBLEM, SOLUTION, ITEM_LABELS, FACTS),
    fields=(
        Field(
            "valid",
            "Is the item valid?",
            "choice",
            options=(
                Option("valid", "Valid", "v"),
                Option("invalid", "Not valid", "n", drops=True),
            ),
            critical=True,
        ),
        Field(
            "solution_valid",
            "Is the solution right?",
            "choice",
            options=(
                Option("valid", "Right", "s"),
                Option("invalid", "Not right", "x"),
                Option("absent", "No solution", "z"),
            ),
            required=False,
            critical=True,
        ),
        Field("quality", "Quality", "rating", tolerance=1, key="q"),
        Field("defects", "Defects", "choices", options=DEFECTS, required=False),
        *correct_parts(QUESTION, CHOICES, ANSWER, SOLUTION),
    ),
    contradictions=(
        Contradiction(
            {"valid": "valid", "solution_valid": "invalid"},
            unless="solution",
            field="solution_valid",
            message="the item is valid, but its solution is not right: correct the solution below, "
            "or call the item not valid",
        ),
        Contradiction(
            {"valid": "valid", "defects": "wrong_solution"},
            unless="solution",
            field="defects",
            message="the item is valid, but its solution is wrong: correct the solution below, or "
            "call the item not valid",
        ),
        Contradiction(
            {"valid": "valid", "defects": "wrong_answer"},
            unless="answer",
            field="defects",
            message="the item is valid, but its answer is wrong: correct the answer below, or call "
            "the item not valid",
        ),
    ),
    source="OMIBench, A.4.1",
)
