"""The block `filter.photographs`: the photographs that become items."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from omibench.params.blocks import Name
from omibench.params.panel import JudgePanel, write_out
from omibench.schemas.problem import Subject


class PhotographScreen(JudgePanel):
    """Models that determine the subject of a photograph and whether it shows a figure.

    A photograph is kept if all agree on a wanted subject and a figure (MathReal, data collection).
    `photographs: NAME` is short for one model.
    """

    subjects: Annotated[list[Subject], Field(min_length=1)] = ["mathematics"]
    """Wanted subjects."""
    completeness_prompt: str | None = None
    """Text file that replaces the instructions with which the models of `filter.completeness`
    vote on photographs."""


Photographs = Annotated[
    PhotographScreen,
    BeforeValidator(write_out, json_schema_input_type=Name | list[Name] | PhotographScreen),
]
