"""The block `saliency:`: which parts of the pictures the models' choices depend on."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from omibench.params.blocks import Block, Name, PromptFiles

Reading = Literal["final_letter", "before_answer"]


class SaliencyParams(Block):
    """Occlusion saliency (USNCO-V, Methods, equations 6 and 7), only for the listed `settings`.

    A black square slides over each picture of a multiple-choice problem. At every position, the
    log-probability of each option's letter at its place in the model's own response is requested.
    """

    settings: list[Name] = []
    """Settings to analyse: those with a single request."""
    models: list[Name] | None = None
    """Their models, which must return log-probabilities; default: all of `infer.models`."""
    reading: Reading = "final_letter"
    """The part of the response (sample 0) before the scored letter: `final_letter`, everything
    up to its final letter; `before_answer`, its reasoning without the lines that state the
    answer, followed by a question for the letter."""
    problems: Annotated[int, Field(ge=1)] | None = 20
    """Maximum number of problems, the same for every cell, drawn by the study's seed."""
    patch: Annotated[int, Field(ge=4)] = 56
    """Side of the square in pixels."""
    stride: Annotated[int, Field(ge=4)] = 28
    """Pixels from one position to the next."""
    max_pixels: Annotated[int, Field(ge=3136)] | None = None
    """Maximum pixels of a picture; larger ones are scaled down, with sides that are multiples of
    `stride`. Default: unchanged."""
    top: Annotated[int, Field(ge=1)] = 15
    """Number of positions with the largest effect in an overlay."""
    prompts: PromptFiles = {}
    """Text files that replace our wording, by prompt name (docs/prompts.md)."""

    @property
    def resolution(self) -> str:
        """The resolution of the pictures, as text."""
        return f"at most {self.max_pixels:,} pixels" if self.max_pixels else "original resolution"

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.patch < self.stride:
            raise ValueError(
                f"patch {self.patch} is smaller than stride {self.stride}, so parts of the "
                "pictures would never be covered; raise patch"
            )
        return self
