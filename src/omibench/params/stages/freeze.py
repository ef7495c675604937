"""The block `freeze`: name and content of the frozen dataset."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StringConstraints

from omibench.params.blocks import Block, Name
from omibench.params.presentation import FreezeExamples


class FreezeParams(Block):
    """Name and content of the frozen dataset; a changed question needs a new version.

    A release that is read as `frozen` keeps its name and version by default.
    """

    name: Name = "dataset"
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")] = "1.0.0"
    metadata: Literal["strip", "keep"] = "strip"
    """Metadata in pictures (places, devices, names): `keep` freezes pictures byte for byte, as
    published by a benchmark."""
    allow_without_rationale: bool = False
    """Whether problems without a rationale can be released; otherwise a dataset that contains
    one is not released."""
    examples: FreezeExamples = FreezeExamples()
    """Problems to use as solved examples."""
