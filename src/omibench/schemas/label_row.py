"""One label of a problem and its source: a line of `labels.jsonl`."""

from __future__ import annotations

from typing import Literal

from omibench.schemas.problem import Noun

LabelKind = Literal["topic", "subfield", "skill"]


class LabelRow(Noun):
    """Labels of one kind that a model or a person gave one problem (OMIBench, A.5)."""

    id: str
    kind: LabelKind
    labels: list[str]
    """None if the reply contained none; then the problem has none of this kind."""
    reason: str = ""
    """Reason in the labeller's words, if requested (EMMA, C.1)."""
    by: str
    """Name of the model in the study, or `person`."""
    simulated: bool = False
