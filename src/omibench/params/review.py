"""The block `review`: where people's decisions are kept, and how many each problem needs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.params.blocks import Block, Name


class CalibrationParams(Block):
    """The test that a person passes before tasks are given to them (OMIBench, A.3.2: 30 items,
    80 % agreement with a gold standard)."""

    items: Annotated[int, Field(ge=1)] = 30
    """How many calibration tasks of one set a person decides on."""
    agreement: Annotated[float, Field(gt=0, le=1)] = 0.8
    """The share of them that must agree with the gold decisions."""
    kinds: list[Name] = []
    """Kinds of task that need it; without names, every kind that has calibration tasks."""


class ReviewParams(Block):
    """What people decide on problems, and what `freeze` asks of it."""

    decisions: str | None = None
    """A YAML file of decisions to keep, drop or edit problems (docs/building.md)."""
    folder: str | None = None
    """The folder of the review: tasks.jsonl, decisions.jsonl, reviewers.yaml and pictures. `freeze`
    obeys what its settled tasks say."""
    reviewers: Literal[0, 1, 2] = 2
    """How many people must have decided on each problem before it is frozen, where `folder` is
    named (OMIBench, A.4.1). With 0 nobody needs to: what one person decided counts, and escalations
    and stale decisions are warnings."""
    kinds: list[Name] = ["item"]
    """The kinds of task in which each problem must be settled, such as item, rationale, label; a
    problem that a kind does not apply to needs no task of it."""
    calibration: CalibrationParams | None = None
    """The test that a person passes before tasks are given to them; without it there is none."""
