"""An answer of a model as a person rates it, to hold judges against."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind
from omibench.review.kinds.parts import PROBLEM, RESPONSE, RIGHT_OR_WRONG, SOLUTION

_MARKS: Final = (
    ("correctness", "Correctness", "c", "Is each step valid?"),
    ("faithfulness", "Faithfulness", "f", "Does it say only what text and pictures give?"),
    ("information_usage", "Use of information", "i", "Does it use all that is needed?"),
    ("clarity", "Clarity", "y", "Can it be followed?"),
    ("detail", "Detail", "d", "Are the steps as small as they have to be?"),
    ("overall", "Overall", "o", "The reasoning as a whole."),
    ("alignment", "Alignment", "l", "Is it the reasoning of the reference solution?"),
)

RATING: Final = Kind(
    name="rating",
    title="Rating of an answer",
    instruction=(
        "Say whether the response reaches the official answer by reasoning that holds: the same "
        "answer in other words or units counts as reached, and one that a plain error led to does "
        "not count. No verdict of a program is shown. The marks below are of the reasoning, from 1 "
        "(worst) to 5; give them where you were asked to."
    ),
    parts=(*PROBLEM, SOLUTION, RESPONSE),
    fields=(
        Field("label", "The response is ...", "choice", options=RIGHT_OR_WRONG, critical=True),
        *(
            Field(
                name,
                title,
                "rating",
                required=False,
                tolerance=1,
                key=key,
                help=help_,
                group="Marks of the reasoning",
            )
            for name, title, key, help_ in _MARKS
        ),
    ),
    source="OMIBench, J (human ratings) and B.2",
)
