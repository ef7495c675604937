"""The block `rationale`: who writes missing rationales and who labels topics."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from omibench.params.blocks import Block, Name
from omibench.params.names import PromptFiles


class RationaleParams(Block):
    """Who writes missing rationales and who labels topics (OMIBench, 3.2 steps 2 and 4)."""

    writer: Name | None = None
    labeller: Name | None = None
    candidates: Annotated[int, Field(ge=1, le=64)] = 4
    """Candidate solutions per problem before the answer is given away (16 in the paper)."""
    labeller_max_tokens: Annotated[int, Field(ge=1)] = 4096
    """Room of one reply of the labeller, in tokens: thinking comes before the label."""
    topics: dict[str, list[str]] = {}
    """The fixed list of topic labels of each subject."""
    prompts: PromptFiles = {}
    """Text files that take the place of our words, by the names of prompts (docs/prompts.md)."""
