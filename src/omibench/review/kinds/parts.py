"""Parts and fields that several kinds share, so that they are shown and asked in the same way."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import AUDITOR, Field, Option, Part

QUESTION: Final = Part("question", "Question", "markdown")
CHOICES: Final = Part("choices", "Choices", "choices")
IMAGES: Final = Part("images", "Pictures", "images")
ANSWER: Final = Part("answer", "Official answer", "answer")
SOLUTION: Final = Part("solution", "Solution", "markdown")
RESPONSE: Final = Part("response", "Response of the model", "markdown")
PAGES: Final = Part("pages", "Pages of the paper", "pages", hashed=False)
FACTS: Final = Part("facts", "About the item", "facts", hashed=False)
ITEM_LABELS: Final = Part("labels", "Labels", "facts", hidden_from=AUDITOR, hashed=False)
STATEMENT: Final = (QUESTION, CHOICES, IMAGES)
"""What a reader of the dataset is asked."""
PROBLEM: Final = (*STATEMENT, ANSWER)

RIGHT_OR_WRONG: Final = (
    Option("right", "Right", "r"),
    Option("wrong", "Wrong", "w"),
)


def correct_parts(*parts: Part, group: str = "Corrections") -> tuple[Field, ...]:
    """Fields in which the texts of parts can be corrected.

    Args:
        parts: Those of a problem; a field has the name and title of its part.
        group: The heading above them.

    Returns:
        A text field for each part, which is None where the text is left as it is. Where two
        readers leave a part in different words a senior decides; that of the official answer counts
        in calibrations and residual errors, too.
    """
    return tuple(
        Field(
            part.name,
            part.title,
            "text",
            required=False,
            edits=part.name,
            group=group,
            critical=part is ANSWER,
        )
        for part in parts
    )
