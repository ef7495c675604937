"""The block `review`: where people's decisions are kept, and how many each problem needs."""

from __future__ import annotations

from typing import Literal

from omibench.params.blocks import Block, Name


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
