"""A response on which rule book and judge disagree: where does that come from?"""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind, Option
from omibench.review.kinds.parts import FACTS, PROBLEM, RESPONSE, RIGHT_OR_WRONG, SOLUTION

DISAGREEMENT: Final = Kind(
    name="disagreement",
    title="Source of a disagreement",
    instruction=(
        "A rule book compared the final answer with the official one, and a judge read the whole "
        "response; they disagree. Read the response, say whether it is right, and name the source "
        "of the disagreement. Two people do this independently of each other."
    ),
    parts=(*PROBLEM, SOLUTION, RESPONSE, FACTS),
    fields=(
        Field(
            "source",
            "Source",
            "choice",
            options=(
                Option(
                    "no_effective_reasoning",
                    "No effective reasoning",
                    "1",
                    "An answer without a derivation, or with text that has nothing to do with it.",
                ),
                Option(
                    "reasoning_error",
                    "Reasoning error",
                    "2",
                    "There is a derivation, and a step of it is false: logic, calculation or fact.",
                ),
                Option(
                    "rule_match_error",
                    "Rule match error",
                    "3",
                    "The answer means the same as the official one, and the rule book did not see "
                    "it for its form.",
                ),
                Option(
                    "other",
                    "Other",
                    "4",
                    "What neither response nor rule book can be blamed for: a wrong official "
                    "answer, an ambiguous question.",
                ),
            ),
            critical=True,
        ),
        Field("label", "The response is ...", "choice", options=RIGHT_OR_WRONG, required=False),
    ),
    source="OMIBench, C.3",
)
