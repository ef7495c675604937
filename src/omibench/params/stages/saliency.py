"""The block `saliency:`: which parts of the pictures the models' choices rest on."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from omibench.params.blocks import Block, Name


class SaliencyParams(Block):
    """Occlusion saliency (USNCO-V, Methods); nothing is asked that is not named in `settings`.

    A black square slides over each picture of a multiple-choice problem, and the log-probability
    of each option's letter is asked for at every position.
    """

    settings: list[Name] = []
    """Settings that are looked into: those that ask once and whose answer begins with a letter."""
    models: list[Name] | None = None
    """Their models, which must give log-probabilities; all of `infer.models` if left out."""
    after_response: list[Name] = []
    """Settings under which the letter is asked for after the model's own response (sample 0), as
    a last turn: those that reason first."""
    problems: Annotated[int, Field(ge=1)] | None = 20
    """So many problems at most, the same of every cell, drawn by the study's seed."""
    patch: Annotated[int, Field(ge=4)] = 56
    """Side of the square in pixels."""
    stride: Annotated[int, Field(ge=4)] = 28
    """Pixels from one position to the next. The pictures' sides are scaled to multiples of it."""
    max_pixels: Annotated[int, Field(ge=3136)] = 200704
    """Pixels to which a picture is scaled down at most (448 x 448); none is scaled up by more than
    fits the stride."""
    top: Annotated[int, Field(ge=1)] = 15
    """Positions with the largest effect that an overlay shows."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.patch < self.stride:
            raise ValueError(
                f"patch {self.patch} is smaller than stride {self.stride}: parts of the pictures "
                "would never be covered"
            )
        strange = set(self.after_response) - set(self.settings)
        if strange:
            raise ValueError(f"after_response names {min(strange)!r}, which `settings` does not")
        return self
