"""The block `review`: where the decisions of reviewers are kept."""

from __future__ import annotations

from omibench.params.blocks import Block


class ReviewParams(Block):
    """Where people's decisions on problems are kept."""

    decisions: str | None = None
