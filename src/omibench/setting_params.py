"""The blocks under `settings:`: how a problem is presented, decoded and aggregated."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from omibench.aggregate_params import Aggregate, Aggregation
from omibench.blocks import Block
from omibench.image_params import Images, ShownImages
from omibench.request import Decoding


class Setting(Block):
    """How a problem is presented, decoded and aggregated (design, section 6)."""

    prompt: str = "cot"
    """A built-in prompt's name, or the path of a text file with {question} and {choices}."""
    images: ShownImages = Images()
    decoding: Decoding = Decoding()
    aggregate: Aggregate = Aggregation()
    """How the samples of a problem become one result, where decoding draws several."""
    label: str | None = None

    @model_validator(mode="after")
    def _k_is_drawn(self) -> Self:
        most = max(self.aggregate.k, default=0)
        if most > self.decoding.samples:
            raise ValueError(
                f"aggregate.k names {most} and decoding.samples draws {self.decoding.samples}"
            )
        return self

    @property
    def helpers(self) -> list[str]:
        """The models that are asked besides the cell's own, such as a captioner; each once."""
        return list(dict.fromkeys(self.images.helpers))
