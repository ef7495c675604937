"""The block `judge`: who judges the reasoning in responses, and of which."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, Name
from omibench.params.names import JudgeName
from omibench.params.panel import JudgePanel, NamedPanel, Panel, write_out

BUILT_IN_KEYS: Final = {
    "quality": "quality", "alignment": "alignment", "error_type": "errors",
    "transcript": "transcripts",
}  # fmt: skip
"""Instrument -> its key under `judge`."""


class ErrorDraw(Block):
    """Which failures are classified: some of each model, drawn by seed (MathReal, figure 6)."""

    per_model: Annotated[int, Field(ge=1)] = 100
    """How many failures of each model under each setting that is judged."""
    seed: int = 0
    """Of the draw. A failure keeps its rank when others join, and has the same for all models."""
    by: str | None = None
    """`subject`, or an attribute of the problems such as `category`: its values are drawn in the
    proportion of their failures. All failures are drawn from together if left out."""


class ErrorPanel(JudgePanel):
    """Who names the type of the first error of a failure: judges, people, or both."""

    models: list[Name] = []
    """Keys of `models`; none where people alone label. A tie of their votes is no verdict."""
    taxonomy: str = "omibench"
    """`omibench`, `emma` or `mathreal`, or a YAML file with `types:` (name: when it applies)."""
    draw: ErrorDraw | None = None
    """Classify some failures of each model; all of them if left out."""
    labels: str | None = None
    """A file of people's labels with the column `error_type`; `certify.labels` if left out."""

    @model_validator(mode="after")
    def _names_somebody(self) -> Self:
        if not (self.models or self.draw or self.labels):
            raise ValueError(
                "names nobody: give `models`, people's `labels`, or a `draw` for people to label"
            )
        return self


Errors = Annotated[
    ErrorPanel,
    BeforeValidator(write_out, json_schema_input_type=Name | list[Name] | ErrorPanel),
]


class JudgeParams(Block):
    """What judges say of the reasoning in responses; nothing is asked that is not named here."""

    quality: Panel | None = None
    """Five dimensions and an overall mark of every rationale, 1 to 5 (OMIBench, B.2)."""
    alignment: Panel | None = None
    """Alignment with the reference rationale, 1 to 5, where there is one (OMIBench, B.2)."""
    errors: Errors | None = None
    """The type of error of every failure (OMIBench, F.2; EMMA, 5; MathReal)."""
    transcripts: Panel | None = None
    """Key terms and meaning that a text keeps which a model read from the pictures, under settings
    with `perception` that read (MathReal, OCR accuracy); its other parts need no judge."""
    others: dict[JudgeName, Panel] = {}
    """Further judges by name, of plug-ins: each says one number or label (docs/plugins.md)."""
    wrong_by: str | None = None
    """The rule book that says which answers are wrong; the first of `score.rules` if left out."""
    settings: list[Name] | None = None
    """The settings whose responses are judged; all of them if left out."""
    problems: Annotated[int, Field(ge=1)] | None = None
    """Judge at most so many problems, the same of every cell; all of them if left out. Where
    `errors` has a `draw`, that alone says which failures are classified."""
    images: bool = False
    """Show the problem's pictures to these judges, which must then be models that see."""

    @property
    def is_named(self) -> bool:
        """Whether anything is said of the reasoning, by judges or by people."""
        return bool(self.panels or self.errors)

    @property
    def judges_responses(self) -> bool:
        """Whether anything is said of responses, and not of readings of pictures alone."""
        return bool(self.errors or self.panels.keys() - {"transcript"})

    @property
    def panels(self) -> dict[str, JudgePanel]:
        """The panels that are named, by instrument."""
        return {name: panel for name, _, panel in self.named_panels}

    @property
    def named_panels(self) -> list[NamedPanel]:
        """The same with their keys in params.yaml."""
        keys = ((name, key, getattr(self, key)) for name, key in BUILT_IN_KEYS.items())
        return [
            *(
                NamedPanel(name, f"judge.{key}", panel)
                for name, key, panel in keys
                if panel and panel.models  # errors may be left to people
            ),
            *(NamedPanel(name, f"judge.others.{name}", p) for name, p in self.others.items()),
        ]
