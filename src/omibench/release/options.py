"""What a user says of a release."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from omibench.params.stages.rationale import WORDS
from omibench.release.splits import SplitPlan


class ReleaseOptions(NamedTuple):
    """What a user says of a release."""

    sources: Path | None = None
    """The sources.yaml with `redistribute` and `licence`."""
    version: str | None = None
    """By default that of the freeze."""
    draft: bool = False
    without_rationale: bool = False
    split: SplitPlan | None = None
    seed: int = 0
    printed: str | None = None
    """A paper whose printed statistics stand beside those of the release, or a CSV file of them."""
    tokenizer: str = WORDS
    """What counts tokens in statistics: `words`, or the path of a model's `tokenizer.json`."""
    previous: Path | None = None
    """The folder of the release before."""
    review: Path | None = None
    """The folder of a review, or a file of people's decisions."""
    statements: Path | None = None
    """What the authors say of the dataset, for the datasheet."""
