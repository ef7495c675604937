"""The block `score`: rule books, and the models that judge responses."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from omibench.params.blocks import Block
from omibench.params.names import RuleBookName
from omibench.params.panel import JudgePanel, NamedPanel, Panel
from omibench.params.stages.gptscore import Gptscore

PANEL_KEYS: Final = {"gptscore": "judge", "grade": "grader", "extraction": "extractor"}
"""Instrument -> its key under `score`."""


class ScoreParams(Block):
    """Which rule books score the responses, and which models judge them."""

    rules: Annotated[list[RuleBookName], Field(min_length=1)] = ["robust"]
    judge: Gptscore | None = None
    """GPTScore: a model's name, several names that vote, or a whole panel (OMIBench, C.2)."""
    grader: Panel | None = None
    """Grades for the rule book `mathreal`; the models of `judge` if left out."""
    extractor: Panel | None = None
    """Finds answers without a box for `mathreal`; the models of the grader if left out."""

    @property
    def graders(self) -> JudgePanel | None:
        """Who grades for `mathreal`."""
        return self.grader or _same_models(self.judge)

    @property
    def extractors(self) -> JudgePanel | None:
        """Who extracts for `mathreal`."""
        return self.extractor or _same_models(self.graders)

    @property
    def named_panels(self) -> list[NamedPanel]:
        """The panels that params.yaml names, with their keys there."""
        named = ((name, key, getattr(self, key)) for name, key in PANEL_KEYS.items())
        return [NamedPanel(name, f"score.{key}", panel) for name, key, panel in named if panel]

    @property
    def panels(self) -> dict[str, JudgePanel]:
        """The panels that scoring asks, by instrument."""
        named: dict[str, JudgePanel | None] = {"gptscore": self.judge}
        if "mathreal" in self.rules:
            named |= {"grade": self.graders, "extraction": self.extractors}
        return {name: panel for name, panel in named.items() if panel}

    def without_gptscore(self) -> ScoreParams:
        """The same, but that the models of `judge` only grade and extract for `mathreal`."""
        named = {"judge": None, "grader": self.graders, "extractor": self.extractors}
        return self.model_copy(update=named)


def _same_models(panel: JudgePanel | None) -> JudgePanel | None:
    return panel and JudgePanel(models=panel.models, max_tokens=panel.max_tokens)
