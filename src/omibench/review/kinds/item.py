"""An item in its final form: is it valid, how good is it, what is wrong with it."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind, Option, Part

DEFECTS: Final = (
    Option("ambiguous_statement", "The statement is ambiguous", "1"),
    Option("misleading_image", "A picture misleads", "2"),
    Option("wrong_solution", "The solution is wrong", "3"),
    Option("wrong_answer", "The answer is wrong", "4"),
    Option("image_not_needed", "The pictures are not needed", "5"),
    Option("unreadable", "Text or picture cannot be read", "6"),
    Option("other", "Another defect, named in the comment", "7"),
)

ITEM: Final = Kind(
    name="item",
    title="Item",
    instruction=(
        "Read the item as a reader of the dataset will. Say whether it can be solved as it stands, "
        "whether text and pictures fit together, and whether the answer is right."
    ),
    parts=(
        Part("question", "Question", "markdown"),
        Part("choices", "Choices", "choices"),
        Part("images", "Pictures", "images"),
        Part("answer", "Answer", "answer"),
        Part("solution", "Solution", "markdown"),
        Part("facts", "About the item", "facts", hashed=False),
    ),
    fields=(
        Field(
            "valid",
            "Is the item valid?",
            "choice",
            options=(Option("valid", "Valid", "v"), Option("invalid", "Not valid", "n")),
            critical=True,
        ),
        Field("quality", "Quality", "rating", tolerance=1, key="q"),
        Field("defects", "Defects", "choices", options=DEFECTS, required=False),
    ),
    source="OMIBench, A.4.1",
)
