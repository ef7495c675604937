"""The block `benchmark`: whose problems are evaluated."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from omibench.params.blocks import Block
from omibench.params.names import BenchmarkName
from omibench.synthetic.profiles import Like


class BenchmarkParams(Block):
    """Which benchmark is evaluated: `papers` is what the building stages make from exam papers."""

    name: BenchmarkName = "papers"
    language: Literal["zh", "en"] = "zh"
    """Of the questions and answers of MathReal, which has both."""
    pictures: Literal["real", "clean", "both"] = "real"
    """MathReal: the photographs, the clean pictures of the problems that have one, or `both` of
    these problems, as two items of one group."""
    like: Like = "omibench"
    """`synthetic`: which published study the made-up problems have the shape of."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Of `synthetic`, and of the draw of `emma-mini`."""
    hub: str | None = None
    """A dataset of the Hugging Face hub to read instead of files in `data`: `owner/name`."""
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")] | None = None
    """The commit of that dataset, all 40 digits: names of branches move."""

    @model_validator(mode="after")
    def _hub_is_pinned(self) -> Self:
        if (self.hub is None) != (self.revision is None):
            raise ValueError("`hub` and `revision` come together: the dataset and its commit")
        return self
