"""The block `saliency:`: which parts of the pictures the models' choices rest on."""

from __future__ import annotations

import logging
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from omibench.params.blocks import Block, Name
from omibench.params.names import PromptFiles

Reading = Literal["final_letter", "before_answer"]
log = logging.getLogger("omibench.params.stages.saliency")


class SaliencyParams(Block):
    """Occlusion saliency (USNCO-V, Methods, equations 6 and 7); what `settings` lacks is not asked.

    A black square slides over each picture of a multiple-choice problem, and the log-probability
    of each option's letter, where the model's own response has one, is asked for at every place.
    """

    settings: list[Name] = []
    """Settings that are looked into: those that ask once."""
    models: list[Name] | None = None
    """Their models, which must give log-probabilities; all of `infer.models` if left out."""
    reading: Reading = "final_letter"
    """What of the response (sample 0) stands before the letter that is scored: `final_letter`, all
    of it up to its final letter; `before_answer`, its reasoning without the lines that state the
    answer, and then a question for the letter."""
    after_response: list[Name] = []
    """Not used any more: the response stands before the letter under every setting. Until 0.2."""
    problems: Annotated[int, Field(ge=1)] | None = 20
    """So many problems at most, the same of every cell, drawn by the study's seed."""
    patch: Annotated[int, Field(ge=4)] = 56
    """Side of the square in pixels."""
    stride: Annotated[int, Field(ge=4)] = 28
    """Pixels from one place to the next."""
    max_pixels: Annotated[int, Field(ge=3136)] | None = None
    """Pixels to which a picture is scaled down at most, its sides to multiples of `stride`; the
    pictures are shown as they are if left out."""
    top: Annotated[int, Field(ge=1)] = 15
    """Positions with the largest effect that an overlay shows."""
    prompts: PromptFiles = {}
    """Text files that take the place of our words, by the names of prompts (docs/prompts.md)."""

    @property
    def resolution(self) -> str:
        """At which resolution pictures are shown, in words."""
        return f"at most {self.max_pixels:,} pixels" if self.max_pixels else "original resolution"

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.patch < self.stride:
            raise ValueError(
                f"patch {self.patch} is smaller than stride {self.stride}: parts of the pictures "
                "would never be covered"
            )
        if self.after_response:
            log.warning(
                "omibench: saliency.after_response is not used any more and goes with 0.2: the "
                "response stands before the letter under every setting, as `saliency.reading` says"
            )
        return self
