"""Parts and fields that several kinds share."""

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
"""Fields about an item from the view of a dataset user."""
PROBLEM: Final = (*STATEMENT, ANSWER)

RIGHT_OR_WRONG: Final = (
    Option("right", "Right", "r"),
    Option("wrong", "Wrong", "w"),
)


def correct_parts(*parts: Part, group: str = "Corrections") -> tuple[Field, ...]:
    """Return fields for correcting the texts of parts.

    Args:
        parts: Parts of a problem; a field has the name and title of its part.
        group: The heading above them.

    Returns:
        A text field for each part, None if the text is unchanged. If two readers leave different
        words in a part, a senior decides. A difference in the official answer also counts in
        calibrations and residual errors.
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
