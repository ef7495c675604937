"""The block `review`: location of the human decisions, and the number needed per problem."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from omibench.params.blocks import Block, Name

TASKS: Final = "tasks.jsonl"
DECISIONS: Final = "decisions.jsonl"
REVIEWERS: Final = "reviewers.yaml"
"""Files of the review folder."""
SHORTEST_SECONDS = 5.0
"""The least credible time of a decision, unless a study says otherwise."""


class CalibrationParams(Block):
    """The test that reviewers pass before they get tasks.

    OMIBench, A.3.2: 30 items, 80 % agreement with a gold standard.
    """

    items: Annotated[int, Field(ge=1)] = 30
    """Number of calibration tasks per reviewer and set."""
    agreement: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Share of them that must agree with the gold decisions."""
    kinds: list[Name] = []
    """Kinds of task that need it; default: every kind with calibration tasks."""


class ReviewParams(Block):
    """The human decisions on problems, and the requirements of `freeze`."""

    decisions: str | None = None
    """YAML file of decisions to keep, drop or edit problems (docs/building.md)."""
    folder: str | None = None
    """Folder of the review: tasks.jsonl, decisions.jsonl, reviewers.yaml and pictures. `freeze`
    applies its settled tasks."""
    reviewers: Literal[0, 1, 2] = 2
    """Number of reviewers per problem required by the freeze if `folder` is set (OMIBench,
    A.4.1). With 0 none is required: a single decision counts, and escalations and stale
    decisions are warnings."""
    kinds: list[Name] = ["item"]
    """Kinds of task in which each problem must be settled, such as item, rationale, label; a
    problem without a kind needs no task of it."""
    calibration: CalibrationParams | None = None
    """The test that reviewers pass before they get tasks; default: none."""
    shortest_seconds: Annotated[float, Field(ge=0)] = SHORTEST_SECONDS
    """Decisions in less time are counted and marked in `review status` and on the pages of the
    application; 0 for none."""
