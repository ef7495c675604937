"""The block `filter.photographs`: which photographs become items."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from omibench.params.blocks import Name
from omibench.params.panel import JudgePanel, write_out
from omibench.schemas.problem import Subject


class PhotographScreen(JudgePanel):
    """Models that say which subject a photograph is of, and whether a figure belongs to it.

    A photograph stays where all agree on a wanted subject and a figure (MathReal, data
    collection). `photographs: NAME` is short for one model.
    """

    subjects: Annotated[list[Subject], Field(min_length=1)] = ["mathematics"]
    """Subjects that are wanted."""
    completeness_prompt: str | None = None
    """A text file whose words take the place of the instructions with which the models of
    `filter.completeness` vote on photographs."""


Photographs = Annotated[
    PhotographScreen,
    BeforeValidator(write_out, json_schema_input_type=Name | list[Name] | PhotographScreen),
]
