"""Who is asked for GPTScore, and in which variant."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from omibench.params.blocks import Name
from omibench.params.panel import JudgePanel, write_out

GptscoreVariant = Literal["justified", "bare-answers"]
"""What GPTScore asks of a response beside the official conclusion."""


def name_prompt(variant: GptscoreVariant) -> str:
    """What a variant is called among the prompts."""
    return "gptscore" if variant == "justified" else f"gptscore-{variant}"


class GptscorePanel(JudgePanel):
    """Judges of GPTScore, and what they ask of a response (OMIBench, C.2)."""

    variant: GptscoreVariant = "justified"
    """`justified`, as in the paper: the conclusion alone, without reasoning that justifies it, is
    inconsistent. `bare-answers`: a response that gives only its final answer is judged by it. Says
    nothing where `prompt` names words of your own."""

    @property
    def prompt_name(self) -> str:
        """What its words are called among the prompts."""
        return name_prompt(self.variant)


Gptscore = Annotated[
    GptscorePanel,
    BeforeValidator(write_out, json_schema_input_type=Name | list[Name] | GptscorePanel),
]
