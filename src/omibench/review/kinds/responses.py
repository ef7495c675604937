"""Human rating of a model's response, for comparison with judges."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import (
    FACTS,
    PROBLEM,
    RESPONSE,
    RIGHT_OR_WRONG,
    SOLUTION,
    STATEMENT,
    Field,
    Kind,
    Option,
    Part,
    ask_one,
)

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
        ask_one("label", "The response is ...", *RIGHT_OR_WRONG),
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


# The wrong steps of a response, and the type of the first fatal error.

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
        ask_one(
            "validation",
            "The response is ...",
            Option("wrong", "Wrong, as judged", "n"),
            Option("right", "Right", "y"),
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
        ask_one(
            "error_type",
            "Type of the first fatal error",
            options_from="error_types",
            when=("validation", ("wrong",)),
        ),
    ),
    source="OMIBench, B.2 (human analyses), F.2.1 and section 5",
)


# The source of a disagreement between scorer and judge on a response.

DISAGREEMENT: Final = Kind(
    name="disagreement",
    title="Source of a disagreement",
    instruction=(
        "A scorer compared the final answer with the official one, and a judge read the whole "
        "response; they disagree. Read the response, decide whether it is correct, and select the "
        "source of the disagreement. Two people do this independently."
    ),
    parts=(*PROBLEM, SOLUTION, RESPONSE, FACTS),
    fields=(
        ask_one(
            "source",
            "Source",
            Option(
                "no_effective_reasoning",
                "No effective reasoning",
                "1",
                "An answer without a derivation, or with unrelated text.",
            ),
            Option(
                "reasoning_error",
                "Reasoning error",
                "2",
                "A derivation with a wrong step: logic, calculation or fact.",
            ),
            Option(
                "rule_match_error",
                "Rule match error",
                "3",
                "The answer means the same as the official one, but the scorer did not "
                "recognize its form.",
            ),
            Option(
                "other",
                "Other",
                "4",
                "Caused by neither response nor scorer: a wrong official answer or an "
                "ambiguous question.",
            ),
        ),
        Field("label", "The response is ...", "choice", options=RIGHT_OR_WRONG, required=False),
    ),
    source="OMIBench, C.3",
)


# A problem that a person solves under the same conditions as models: the human baseline.

BASELINE: Final = Kind(
    name="baseline",
    title="Human baseline",
    instruction=(
        "Solve the problem on your own, with paper and pen, in one go. The time starts when the "
        "problem opens and pauses while you are in another window. Give only the final answer: the "
        "letter of an option, or a value with its unit. If you do not know, leave it empty; that "
        "counts as wrong. The first problems are for practice and do not count."
    ),
    parts=STATEMENT,
    fields=(
        Field(
            "answer",
            "Final answer",
            "text",
            required=False,
            help="The letter of an option, or a value with its unit.",
        ),
    ),
    design="everyone",
    timed=True,
    source="OMIBench, K",
)
"""Such a task shows neither answer nor solution."""
