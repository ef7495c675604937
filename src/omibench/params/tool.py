"""The block `tools:` of a setting: the picture tools of a model, and their use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from omibench.params.blocks import Block

ToolName = Literal[
    "look", "crop", "zoom", "draw_points", "draw_lines", "draw_shape", "draw_text", "highlight",
    "blur", "side_by_side",
]  # fmt: skip
ToolStyle = Literal["native", "text"]
Manner = Literal["free", "sketch", "slow", "flow"]


class Tools(Block):
    """Thinking with images: a loop in which the model edits copies of the pictures."""

    style: ToolStyle = "native"
    """`native`: the provider's tool interface; `text`: blocks in the model's output."""
    manner: Manner = "free"
    """Instructions on how to use the tools (docs/settings.md)."""
    max_turns: Annotated[int, Field(ge=2, le=32)] = 6
    """Maximum turns of a loop; the last is requested without tools."""
    offered: Annotated[tuple[ToolName, ...], Field(min_length=1)] = (
        "look", "crop", "zoom", "draw_points", "draw_lines", "draw_shape", "draw_text",
        "highlight", "blur", "side_by_side",
    )  # fmt: skip
    images: Annotated[int, Field(ge=1, le=100)] = 16
    """Maximum pictures in one conversation: those of the problem and those of tools."""

    @field_validator("offered")
    @classmethod
    def _once(cls, offered: tuple[ToolName, ...]) -> tuple[ToolName, ...]:
        twice = next((name for name in offered if offered.count(name) > 1), None)
        if twice:
            raise ValueError(f"{twice} is listed twice")
        return offered
