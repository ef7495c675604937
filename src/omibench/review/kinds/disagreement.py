"""The source of a disagreement between scorer and judge on a response."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind, Option
from omibench.review.kinds.parts import FACTS, PROBLEM, RESPONSE, RIGHT_OR_WRONG, SOLUTION

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
        Field(
            "source",
            "Source",
            "choice",
            options=(
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
            critical=True,
        ),
        Field("label", "The response is ...", "choice", options=RIGHT_OR_WRONG, required=False),
    ),
    source="OMIBench, C.3",
)
