"""A worked solution, made from what models wrote."""

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
        "Choose the candidate that needs the least work, check it in five respects, and mark each "
        "check that it passes before you have changed anything. Then make it a solution that a "
        "good student can follow, and say how much that took. Where you hesitate between a "
        "revision and a new text, write it anew if its structure is in the way. Where no candidate "
        "reaches the official answer, you see wrong ones: they show what may go wrong, and parts "
        "of them may still be of use. The text ends in the final answer, in the form that the "
        "question asks for."
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
            help="Every larger step follows, all conditions are used as they are meant, and none "
            "is made up.",
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
            help="No step is left out that a reader could not fill in at once, and each one leads "
            "to the next.",
        ),
        Field(
            "final_answer",
            "Final answer",
            "flag",
            key="f",
            group=_CHECKS,
            help="The reasoning arrives at the official answer, which is stated once, plainly and "
            "in the right form.",
        ),
        Field(
            "clarity",
            "Clarity and style",
            "flag",
            key="l",
            group=_CHECKS,
            help="Easy to follow, without repetitions and detours, in the notation of the problem.",
        ),
        Field(
            "action",
            "What did it take?",
            "choice",
            options=(
                Option(
                    "accept",
                    "Accept, with minor edits",
                    "a",
                    "Right and whole; only words, transitions or notation are touched up.",
                ),
                Option(
                    "revise",
                    "Substantive revision",
                    "v",
                    "The idea is right; steps were missing, a local mistake was mended, or detours "
                    "were cut.",
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
            help="Starts with the candidate that you chose.",
        ),
    ),
    reviewers=1,
    source="OMIBench, A.3.2",
)
"""One person writes; what they wrote is audited as a part of the item (A.4.1)."""
