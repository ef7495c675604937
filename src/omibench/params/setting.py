"""The blocks under `settings:`: presentation, decoding and aggregation of a problem."""

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
    """Presentation, decoding and aggregation of a problem (design, section 6)."""

    prompt: str = "cot"
    """Name of a built-in prompt, or path of a text file with {question} and {choices}."""
    prompts: PromptFiles = {}
    """Text files that replace our wording, by prompt name (docs/prompts.md)."""
    images: ShownImages = Images()
    where: Where = {}
    """Problems to include, such as `{subject: mathematics}`; default: all."""
    without: list[Without] = []
    """Part of a problem's text to omit: `question`, `choices`, or both."""
    examples: Examples | None = None
    """Solved problems shown before the question."""
    perception: Perceived | None = None
    """Textual descriptions of the pictures obtained before the question is answered."""
    tools: Tools | None = None
    """Tools with which the model can zoom into the pictures and draw on copies of them."""
    decoding: Decoding = Decoding()
    aggregate: Aggregate = Aggregation()
    """How several samples of a problem become one result."""
    label: str | None = None

    @model_validator(mode="after")
    def _k_is_drawn(self) -> Self:
        largest = max(self.aggregate.k, default=0)
        if largest > self.decoding.samples:
            raise ValueError(
                f"aggregate.k contains {largest}, but decoding.samples is {self.decoding.samples}"
            )
        return self

    @model_validator(mode="after")
    def _perceives_pictures(self) -> Self:
        seeing = self.perception and (self.perception.reads or self.perception.given == "I")
        if self.perception and seeing and self.images.show in ("none", "captions"):
            raise ValueError(
                f"perception: {self.perception.given} needs the pictures, but images: "
                f"{self.images.show} does not show them"
            )
        if self.perception and "question" in self.without:
            raise ValueError("perception determines the text; remove `without: [question]`")
        return self

    @model_validator(mode="after")
    def _tools_have_pictures(self) -> Self:
        if self.tools and self.images.show in ("none", "captions"):
            raise ValueError(
                f"tools need the pictures, but images: {self.images.show} does not show them"
            )
        return self

    @property
    def in_steps(self) -> bool:
        """Whether the last request depends on earlier answers."""
        return self.images.show == "captions" or bool(self.perception or self.tools)

    @property
    def reads(self) -> bool:
        """Whether the text of the pictures is read before the question is answered."""
        return self.perception is not None and self.perception.reads

    @property
    def helpers(self) -> list[str]:
        """The models besides the cell's respondent, such as a captioner; each once."""
        reader = self.perception.by if self.perception else None
        return list(dict.fromkeys([*self.images.helpers, *([reader] if reader else [])]))
