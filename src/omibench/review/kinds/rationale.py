"""A worked solution based on responses of models."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind, Option, Part
from omibench.review.kinds.parts import FACTS, PROBLEM

REFERENCE: Final = Part("reference", "Reference solution", "markdown")
CANDIDATES: Final = Part("candidates", "Candidates", "candidates")
_CHECKS: Final = "Checks of the candidate: mark those that it passes"

RATIONALE: Final = Kind(
    name="rationale",
    title="Rationale",
    instruction=(
        "Choose the candidate that needs the least work, and mark which of the five checks it "
        "passes before you change anything. Then turn it into a solution that a good student can "
        "follow, and state how much work that took. If you hesitate between a revision and a new "
        "text, write a new one if the structure is a problem. If no candidate reaches the official "
        "answer, you see wrong ones: they show typical errors, and parts of them may still be "
        "useful. The text ends with the final answer, in the form required by the question."
    ),
    parts=(*PROBLEM, REFERENCE, CANDIDATES, FACTS),
    fields=(
        Field(
            "candidate",
            "Candidate",
            "choice",
            options=(Option("none", "None of them", "0"),),
            options_from="candidates",
        ),
        Field(
            "concepts",
            "Concepts",
            "flag",
            key="c",
            group=_CHECKS,
            help="Every major step follows, all conditions are used correctly, and none is made "
            "up.",
        ),
        Field(
            "computation",
            "Computation",
            "flag",
            key="m",
            group=_CHECKS,
            help="Algebra, arithmetic and cases are right, and intermediate results agree.",
        ),
        Field(
            "completeness",
            "Completeness",
            "flag",
            key="p",
            group=_CHECKS,
            help="No step is missing that a reader could not complete easily, and each step leads "
            "to the next.",
        ),
        Field(
            "final_answer",
            "Final answer",
            "flag",
            key="f",
            group=_CHECKS,
            help="The reasoning leads to the official answer, which is stated once, clearly and in "
            "the right form.",
        ),
        Field(
            "clarity",
            "Clarity and style",
            "flag",
            key="l",
            group=_CHECKS,
            help="Easy to follow, without repetition or detours, in the notation of the problem.",
        ),
        Field(
            "action",
            "How much work did it take?",
            "choice",
            options=(
                Option(
                    "accept",
                    "Accept, with minor edits",
                    "a",
                    "Correct and complete; only wording, transitions or notation were edited.",
                ),
                Option(
                    "revise",
                    "Substantive revision",
                    "v",
                    "The idea is correct; missing steps were added, a local mistake was fixed, or "
                    "detours were cut.",
                ),
                Option(
                    "rewrite",
                    "Complete rewrite",
                    "w",
                    "The reasoning is wrong as a whole, contradicts itself, or cannot be followed.",
                ),
            ),
        ),
        Field(
            "solution",
            "The rationale",
            "text",
            required=False,
            edits="candidates",
            help="Starts with the chosen candidate.",
        ),
    ),
    reviewers=1,
    source="OMIBench, A.3.2",
)
"""One person writes the solution; it is audited as part of the item (A.4.1)."""
