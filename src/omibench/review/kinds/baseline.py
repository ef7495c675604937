"""A problem that a person solves under the same conditions as models: the human baseline."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind
from omibench.review.kinds.parts import STATEMENT

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
