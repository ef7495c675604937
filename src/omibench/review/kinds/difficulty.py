"""Whether the difficulty and type of a problem fit the dataset."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind, Option
from omibench.review.kinds.parts import FACTS, PROBLEM

DIFFICULTY: Final = Kind(
    name="difficulty",
    title="Difficulty",
    instruction=(
        "Judge as a former participant of such competitions. Keep a problem that requires several "
        "steps of reasoning about its pictures. Remove problems that are trivial, that require "
        "specialist knowledge of a narrow field, or that differ in style from the papers of the "
        "dataset."
    ),
    parts=(*PROBLEM, FACTS),
    fields=(
        Field(
            "curation",
            "Does it belong in the dataset?",
            "choice",
            options=(
                Option("keep", "Keep it", "y"),
                Option("trivial", "Trivial", "t", drops=True),
                Option("too_special", "Too special", "s", drops=True),
                Option("out_of_style", "Out of style", "o", drops=True),
            ),
            critical=True,
        ),
        Field(
            "level",
            "How hard is it compared with other problems of the dataset?",
            "choice",
            options=(
                Option("easy", "Easy", "1"),
                Option("medium", "Medium", "2"),
                Option("hard", "Hard", "3"),
            ),
            required=False,
            when=("curation", ("keep",)),
            attribute="difficulty",
        ),
    ),
    source="OMIBench, A.2 (difficulty curation)",
)
