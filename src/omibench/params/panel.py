"""Models that judge: one, or several that vote. Several stages and settings name such a panel."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field

from omibench.params.blocks import Block, Name


class JudgePanel(Block):
    """One judge or several that vote. `judge: NAME` or `judge: [A, B, C]` is short for it."""

    models: Annotated[list[Name], Field(min_length=1)]
    """Keys of `models`. A tie of their votes is no verdict."""
    prompt: str | None = None
    """A text file whose words take the place of the built-in instructions."""
    max_tokens: Annotated[int, Field(ge=1)] = 1024
    """Room of one reply; a judge that thinks needs more."""


def write_out(value: object) -> object:
    """A panel as written in short: a name, or a list of names."""
    if isinstance(value, str):
        return {"models": [value]}
    return {"models": value} if isinstance(value, list) else value


Panel = Annotated[
    JudgePanel,
    BeforeValidator(write_out, json_schema_input_type=Name | list[Name] | JudgePanel),
]


class NamedPanel(NamedTuple):
    """A panel as params.yaml names it: the instrument that it is asked with, and its key there."""

    instrument: str
    key: str
    panel: JudgePanel
