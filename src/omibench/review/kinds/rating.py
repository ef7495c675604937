"""Human rating of a model's response, for comparison with judges."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind
from omibench.review.kinds.parts import PROBLEM, RESPONSE, RIGHT_OR_WRONG, SOLUTION

_MARKS: Final = (
    ("correctness", "Correctness", "c", "Is each step valid?"),
    ("faithfulness", "Faithfulness", "f", "Does it use only facts given by text and pictures?"),
    ("information_usage", "Use of information", "i", "Does it use all required information?"),
    ("clarity", "Clarity", "y", "Can it be followed?"),
    ("detail", "Detail", "d", "Are the steps small enough?"),
    ("overall", "Overall", "o", "The reasoning as a whole."),
    ("alignment", "Alignment", "l", "Is it the reasoning of the reference solution?"),
)

RATING: Final = Kind(
    name="rating",
    title="Rating of an answer",
    instruction=(
        "Decide whether the response reaches the official answer by valid reasoning. The same "
        "answer in other words or units counts; an answer reached through a clear error does not. "
        "No program's verdict is shown. The marks below rate the reasoning from 1 (worst) to 5; "
        "give them if you were asked to."
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
