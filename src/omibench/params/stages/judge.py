"""The block `judge`: the judges of the reasoning in responses, and their input."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, JudgeName, Name
from omibench.params.panel import JudgePanel, NamedPanel, Panel, write_out

BUILT_IN_KEYS: Final = {
    "quality": "quality", "alignment": "alignment", "error_type": "errors",
    "transcript": "transcripts",
}  # fmt: skip
"""Instrument -> its key under `judge`."""


class ErrorDraw(Block):
    """A sample of failures to classify: some of each model, drawn by seed (MathReal, figure 6)."""

    per_model: Annotated[int, Field(ge=1)] = 100
    """Number of failures per model under each judged setting."""
    seed: int = 0
    """Seed of the draw. A failure keeps its rank when others are added, and has the same one for
    all models."""
    by: str | None = None
    """`subject`, or an attribute of the problems such as `category`: its values are drawn in
    proportion to their failures. Default: no stratification."""


class ErrorPanel(JudgePanel):
    """Who classifies the first error of a failure: judges, annotators, or both."""

    models: list[Name] = []
    """Keys of `models`; empty if only annotators label. A tied vote yields no verdict."""
    taxonomy: str = "omibench"
    """`omibench`, `emma` or `mathreal`, or a YAML file with `types:` (name: when it applies)."""
    draw: ErrorDraw | None = None
    """Classify a sample of the failures of each model; default: all."""
    labels: str | None = None
    """File of human labels with the column `error_type`; default: `certify.labels`."""

    @model_validator(mode="after")
    def _names_somebody(self) -> Self:
        if not (self.models or self.draw or self.labels):
            raise ValueError("is empty; set `models`, human `labels`, or a `draw` for annotators")
        return self


Errors = Annotated[
    ErrorPanel,
    BeforeValidator(write_out, json_schema_input_type=Name | list[Name] | ErrorPanel),
]


class JudgeParams(Block):
    """The judgements of the reasoning in responses. Only those you list are run."""

    quality: Panel | None = None
    """Five dimensions and an overall mark of every rationale, 1 to 5 (OMIBench, B.2)."""
    alignment: Panel | None = None
    """Alignment with the reference rationale, if any, 1 to 5 (OMIBench, B.2)."""
    errors: Errors | None = None
    """The error type of every failure (OMIBench, F.2; EMMA, 5; MathReal)."""
    transcripts: Panel | None = None
    """Key terms and meaning preserved in the text that a model read from the pictures, under
    settings with `perception` that read (MathReal, OCR accuracy); its other parts need no judge."""
    others: dict[JudgeName, Panel] = {}
    """Further judges of plug-ins by name, each with one number or label (docs/plugins.md)."""
    wrong_by: str | None = None
    """The scorer that determines the wrong answers; default: the first of `score.scorers`."""
    settings: list[Name] | None = None
    """The settings to judge; default: all."""
    problems: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of problems to judge, the same for every cell; default: all. If `errors`
    has a `draw`, only that selects the failures to classify."""
    images: bool = False
    """Show the problem's pictures to these judges, which must then support images."""

    @property
    def is_named(self) -> bool:
        """Whether the reasoning is judged, by models or annotators."""
        return bool(self.panels or self.errors)

    @property
    def judges_responses(self) -> bool:
        """Whether responses are judged, not only transcripts of pictures."""
        return bool(self.errors or self.panels.keys() - {"transcript"})

    @property
    def panels(self) -> dict[str, JudgePanel]:
        """The configured panels by instrument."""
        return {name: panel for name, _, panel in self.named_panels}

    @property
    def named_panels(self) -> list[NamedPanel]:
        """The configured panels with their keys in params.yaml."""
        keys = ((name, key, getattr(self, key)) for name, key in BUILT_IN_KEYS.items())
        return [
            *(
                NamedPanel(name, f"judge.{key}", panel)
                for name, key, panel in keys
                if panel and panel.models  # errors can be left to annotators
            ),
            *(NamedPanel(name, f"judge.others.{name}", p) for name, p in self.others.items()),
        ]
