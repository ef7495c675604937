"""Judging models: one, or several that vote. Several stages and settings have such a panel."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field

from omibench.params.blocks import Block, Name


class JudgePanel(Block):
    """One judge or several that vote. `judge: NAME` or `judge: [A, B, C]` is short for it."""

    models: Annotated[list[Name], Field(min_length=1)]
    """Keys of `models`. A tied vote yields no verdict."""
    prompt: str | None = None
    """Text file that replaces the built-in instructions."""
    max_tokens: Annotated[int, Field(ge=1)] = 1024
    """Maximum tokens of a reply; a judge that thinks needs more."""


def write_out(value: object) -> object:
    """Expand the short form of a panel: a name, or a list of names."""
    if isinstance(value, str):
        return {"models": [value]}
    return {"models": value} if isinstance(value, list) else value


Panel = Annotated[
    JudgePanel,
    BeforeValidator(write_out, json_schema_input_type=Name | list[Name] | JudgePanel),
]


class NamedPanel(NamedTuple):
    """A panel in params.yaml with its instrument and its key."""

    instrument: str
    key: str
    panel: JudgePanel
