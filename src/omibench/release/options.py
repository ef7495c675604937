"""Options of a release."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from omibench.params.stages.rationale import WORDS
from omibench.release.splits import SplitPlan


class ReleaseOptions(NamedTuple):
    """Options of a release."""

    sources: Path | None = None
    """The sources.yaml with `redistribute` and `licence`."""
    version: str | None = None
    """Name of the dataset; by default that of the freeze."""
    draft: bool = False
    without_rationale: bool = False
    split: SplitPlan | None = None
    seed: int = 0
    printed: str | None = None
    """A paper whose published statistics are shown next to those of the release, or a CSV file of
    them.
    """
    tokenizer: str = WORDS
    """The tokenizer of the statistics: `words`, or the path of a model's `tokenizer.json`."""
    previous: Path | None = None
    """The folder of the previous release."""
    review: Path | None = None
    """A review folder, or a file of review decisions."""
    statements: Path | None = None
    """The authors' statements for the datasheet."""
