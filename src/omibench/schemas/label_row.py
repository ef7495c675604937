"""One label of a problem and who gave it: a line of `labels.jsonl`."""

from __future__ import annotations

from typing import Literal

from omibench.schemas.problem import Noun

LabelKind = Literal["topic", "subfield", "skill"]


class LabelRow(Noun):
    """The labels of one kind that a model or a person gave one problem (OMIBench, A.5)."""

    id: str
    kind: LabelKind
    labels: list[str]
    """None where the reply named none; then the problem has none of this kind."""
    reason: str = ""
    """Why, in the labeller's words, where it was asked to say so (EMMA, C.1)."""
    by: str
    """The model's name in the study, or `person`."""
    simulated: bool = False
