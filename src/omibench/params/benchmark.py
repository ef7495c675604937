"""The block `benchmark`: the benchmark to evaluate."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from omibench.models.synthetic.profiles import Like
from omibench.params.blocks import BenchmarkName, Block


class BenchmarkParams(Block):
    """The benchmark to evaluate; `papers` is built from exam papers by the building stages."""

    name: BenchmarkName = "papers"
    language: Literal["zh", "en"] = "zh"
    """Language of the questions and answers of MathReal, which has both."""
    pictures: Literal["real", "clean", "both"] = "real"
    """MathReal: the photographs, the clean pictures (only problems that have one), or `both` for
    these problems, as two items of one group."""
    like: Like = "omibench"
    """`synthetic`: the published study whose shape the synthetic problems take."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of `synthetic` and of the sample of `emma-mini`."""
    hub: str | None = None
    """Dataset of the Hugging Face hub to read instead of files in `data`: `owner/name`."""
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")] | None = None
    """Commit of that dataset, all 40 digits, since branches move."""

    @model_validator(mode="after")
    def _hub_is_pinned(self) -> Self:
        if (self.hub is None) != (self.revision is None):
            raise ValueError(
                "`hub` and `revision` belong together: set both the dataset and its commit"
            )
        return self
