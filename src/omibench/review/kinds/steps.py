"""The wrong steps of a response, and the type of the first fatal error."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind, Option, Part
from omibench.review.kinds.parts import FACTS, PROBLEM, SOLUTION

STEPS_PART: Final = Part("steps", "Steps of the response", "steps")
ERROR_TYPES: Final = Part("error_types", "Types of errors", "facts", hashed=False)

STEPS: Final = Kind(
    name="steps",
    title="Steps and error type",
    instruction=(
        "First check whether the response is wrong at all: the judge may be mistaken. "
        "Then go through its steps and mark each as right or wrong; a step without substance (a "
        "heading, a restatement) is not a step of the reasoning. If the response is wrong, select "
        "the type of the first error from which it does not recover, by its root cause: a misread "
        "picture that leads to a wrong calculation is an error of perception."
    ),
    parts=(*PROBLEM, SOLUTION, STEPS_PART, ERROR_TYPES, FACTS),
    fields=(
        Field(
            "validation",
            "The response is ...",
            "choice",
            options=(
                Option("wrong", "Wrong, as judged", "n"),
                Option("right", "Correct", "y"),
            ),
            critical=True,
        ),
        Field(
            "steps",
            "Steps",
            "steps",
            options=(
                Option("right", "Right", "r"),
                Option("wrong", "Wrong", "w"),
                Option("no_step", "Not a step of the reasoning", "o"),
            ),
        ),
        Field(
            "error_type",
            "Type of the first fatal error",
            "choice",
            options_from="error_types",
            when=("validation", ("wrong",)),
            critical=True,
        ),
    ),
    source="OMIBench, B.2 (human analyses), F.2.1 and section 5",
)
