"""Whether a problem is of the difficulty and kind that the dataset is for."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind, Option
from omibench.review.kinds.parts import FACTS, PROBLEM

DIFFICULTY: Final = Kind(
    name="difficulty",
    title="Difficulty",
    instruction=(
        "Judge as somebody who has taken part in such competitions. Keep a problem that asks for "
        "several steps of reasoning over its pictures. Take out what is trivial, what only "
        "specialists of a narrow field could know, and what differs in style from the papers that "
        "the dataset is made of."
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
            "How hard is it among those that belong there?",
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
