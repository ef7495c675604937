"""A problem that a person solves, as models do: the human baseline."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind
from omibench.review.kinds.parts import STATEMENT

BASELINE: Final = Kind(
    name="baseline",
    title="Human baseline",
    instruction=(
        "Solve the problem on your own, with paper and pen, in one go: the time counts from when "
        "the problem opens, and stops while you look elsewhere. Give the final answer alone: the "
        "letter of an option, or a value with its unit. Where you do not know, leave it empty; "
        "that counts as wrong. The first problems are there to get used to the form and do not "
        "count."
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
"""Neither answer nor solution is part of such a task."""
