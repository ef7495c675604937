"""The judges of GPTScore, and its variants."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from omibench.params.blocks import Block, Name, ScorerName
from omibench.params.panel import JudgePanel, NamedPanel, Panel, write_out

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
    pictures: bool = False
    """Show the problem's pictures to the judges, which must then support images. By default they
    see only text, as the paper says of its judge (C.2)."""

    @property
    def prompt_name(self) -> str:
        """Its name among the prompts."""
        return name_prompt(self.variant)


Gptscore = Annotated[
    GptscorePanel,
    BeforeValidator(write_out, json_schema_input_type=Name | list[Name] | GptscorePanel),
]


# The block `score`: scorers, and the models that judge responses.

PANEL_KEYS: Final = {"gptscore": "judge", "grade": "grader", "extraction": "extractor"}
"""Instrument -> its key under `score`."""


class ScoreParams(Block):
    """The scorers of the responses, and the models that judge them."""

    scorers: Annotated[list[ScorerName], Field(min_length=1)] = ["robust"]
    judge: Gptscore | None = None
    """GPTScore: a model's name, several names that vote, or a whole panel (OMIBench, C.2)."""
    grader: Panel | None = None
    """Grader for the scorer `mathreal`; default: the models of `judge`."""
    extractor: Panel | None = None
    """Finder of answers without a box for `mathreal`; default: the models of the grader."""

    @property
    def graders(self) -> JudgePanel | None:
        """The graders of `mathreal`."""
        return self.grader or _same_models(self.judge)

    @property
    def extractors(self) -> JudgePanel | None:
        """The extractors of `mathreal`."""
        return self.extractor or _same_models(self.graders)

    @property
    def named_panels(self) -> list[NamedPanel]:
        """The panels in params.yaml with their keys."""
        named = ((name, key, getattr(self, key)) for name, key in PANEL_KEYS.items())
        return [NamedPanel(name, f"score.{key}", panel) for name, key, panel in named if panel]

    @property
    def panels(self) -> dict[str, JudgePanel]:
        """The panels in use for scoring, by instrument."""
        named: dict[str, JudgePanel | None] = {"gptscore": self.judge}
        if "mathreal" in self.scorers:
            named |= {"grade": self.graders, "extraction": self.extractors}
        return {name: panel for name, panel in named.items() if panel}

    def without_gptscore(self) -> ScoreParams:
        """Return a copy in which the models of `judge` only grade and extract for `mathreal`."""
        named = {"judge": None, "grader": self.graders, "extractor": self.extractors}
        return self.model_copy(update=named)


def _same_models(panel: JudgePanel | None) -> JudgePanel | None:
    return panel and JudgePanel(models=panel.models, max_tokens=panel.max_tokens)
