"""The blocks under `settings:`: how a problem is presented, decoded and aggregated."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from omibench.params.blocks import Block
from omibench.params.image import Images, ShownImages
from omibench.params.names import PromptFiles
from omibench.params.presentation import Examples, Perceived, Where, Without
from omibench.params.stages.aggregate import Aggregate, Aggregation
from omibench.params.tool import Tools
from omibench.schemas.request import Decoding


class Setting(Block):
    """How a problem is presented, decoded and aggregated (design, section 6)."""

    prompt: str = "cot"
    """A built-in prompt's name, or the path of a text file with {question} and {choices}."""
    prompts: PromptFiles = {}
    """Text files that take the place of our words, by the names of prompts (docs/prompts.md)."""
    images: ShownImages = Images()
    where: Where = {}
    """Which problems are asked, such as `{subject: mathematics}`; all of them if left out."""
    without: list[Without] = []
    """What of a problem's text is left out: `question`, `choices`, or both."""
    examples: Examples | None = None
    """Solved problems that are shown before the question."""
    perception: Perceived | None = None
    """What is known of the pictures in words before the question is answered."""
    tools: Tools | None = None
    """Tools with which the model may look closer at the pictures and draw on copies of them."""
    decoding: Decoding = Decoding()
    aggregate: Aggregate = Aggregation()
    """How the samples of a problem become one result, where decoding draws several."""
    label: str | None = None

    @model_validator(mode="after")
    def _k_is_drawn(self) -> Self:
        largest = max(self.aggregate.k, default=0)
        if largest > self.decoding.samples:
            raise ValueError(
                f"aggregate.k names {largest} and decoding.samples draws {self.decoding.samples}"
            )
        return self

    @model_validator(mode="after")
    def _perceives_pictures(self) -> Self:
        seeing = self.perception and (self.perception.reads or self.perception.given == "I")
        if self.perception and seeing and self.images.show in ("none", "captions"):
            raise ValueError(
                f"perception: {self.perception.given} needs the pictures, and images: "
                f"{self.images.show} does not show them"
            )
        if self.perception and "question" in self.without:
            raise ValueError("perception says which text is given: leave out `without: [question]`")
        return self

    @model_validator(mode="after")
    def _tools_have_pictures(self) -> Self:
        if self.tools and self.images.show in ("none", "captions"):
            raise ValueError(
                f"tools work on the pictures, and images: {self.images.show} does not show them"
            )
        return self

    @property
    def in_steps(self) -> bool:
        """Whether what is asked last depends on what was answered before."""
        return self.images.show == "captions" or bool(self.perception or self.tools)

    @property
    def reads(self) -> bool:
        """Whether the text of the pictures is read before the question is answered."""
        return self.perception is not None and self.perception.reads

    @property
    def helpers(self) -> list[str]:
        """The models that are asked besides the cell's own, such as a captioner; each once."""
        reader = self.perception.by if self.perception else None
        return list(dict.fromkeys([*self.images.helpers, *([reader] if reader else [])]))
