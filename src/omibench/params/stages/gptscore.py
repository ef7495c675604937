"""The judges of GPTScore, and its variants."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from omibench.params.blocks import Name
from omibench.params.panel import JudgePanel, write_out

GptscoreVariant = Literal["justified", "bare-answers"]
"""The criterion of GPTScore in addition to the official conclusion."""


def name_prompt(variant: GptscoreVariant) -> str:
    """Return the prompt name of a variant."""
    return "gptscore" if variant == "justified" else f"gptscore-{variant}"


class GptscorePanel(JudgePanel):
    """Judges of GPTScore, and their criterion (OMIBench, C.2)."""

    variant: GptscoreVariant = "justified"
    """`justified`, as in the paper: a conclusion without reasoning that justifies it is
    inconsistent. `bare-answers`: a response with only a final answer is judged by it. No effect
    if `prompt` is set."""

    @property
    def prompt_name(self) -> str:
        """Its name among the prompts."""
        return name_prompt(self.variant)


Gptscore = Annotated[
    GptscorePanel,
    BeforeValidator(write_out, json_schema_input_type=Name | list[Name] | GptscorePanel),
]
