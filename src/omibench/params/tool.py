"""The block `tools:` of a setting: which tools a model may use on the pictures, and how."""

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
    """Thinking with images: a loop in which the model edits copies of the pictures it is shown."""

    style: ToolStyle = "native"
    """`native`: by the provider's own tool interface; `text`: by blocks that the model writes."""
    manner: Manner = "free"
    """What the model is told of how to go about it (docs/settings.md)."""
    max_turns: Annotated[int, Field(ge=2, le=32)] = 6
    """Turns in one loop, at most; the last is asked for without tools."""
    offered: Annotated[tuple[ToolName, ...], Field(min_length=1)] = (
        "look", "crop", "zoom", "draw_points", "draw_lines", "draw_shape", "draw_text",
        "highlight", "blur", "side_by_side",
    )  # fmt: skip
    images: Annotated[int, Field(ge=1, le=100)] = 16
    """Pictures in one conversation, at most: those of the problem and those that tools show."""

    @field_validator("offered")
    @classmethod
    def _once(cls, offered: tuple[ToolName, ...]) -> tuple[ToolName, ...]:
        twice = next((name for name in offered if offered.count(name) > 1), None)
        if twice:
            raise ValueError(f"{twice} is offered twice")
        return offered
