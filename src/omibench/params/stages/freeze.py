"""The block `freeze`: what the frozen dataset is called and holds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StringConstraints

from omibench.params.blocks import Block, Name
from omibench.params.presentation import FreezeExamples


class FreezeParams(Block):
    """What the frozen dataset is called; a changed question needs a new version.

    A release that is read as `frozen` keeps its name and version where they are left out.
    """

    name: Name = "dataset"
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")] = "1.0.0"
    metadata: Literal["strip", "keep"] = "strip"
    """What cameras and programs noted in pictures (places, devices, names): `keep` freezes pictures
    byte for byte, as a benchmark published them."""
    allow_without_rationale: bool = False
    """Whether problems without a rationale may be released; otherwise no release is built of a
    dataset that holds one."""
    examples: FreezeExamples = FreezeExamples()
    """Which problems may be shown, solved, before others."""
