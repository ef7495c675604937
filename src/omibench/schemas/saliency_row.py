"""The row of `saliency/{model}/{setting}.parquet`."""

from __future__ import annotations

from pathlib import Path

from omibench.schemas.problem import Noun


class SaliencyRow(Noun):
    """What covering one place of one picture does to one option of a problem (see saliency.md).

    `drop` is log P(option) uncovered (`logprob`) less that under the patch, in nats. `x`, `y` and
    `side` are pixels of the picture with the hash `sha256`, which is the one that was shown.
    """

    id: str
    key: str
    """Key of the uncovered request."""
    image: int
    """Which of the pictures that are shown, from 0."""
    sha256: str
    x: int
    y: int
    side: int
    option: str
    logprob: float
    drop: float
    chosen: bool
    right: bool
    simulated: bool = False


def map_file(folder: Path, problem: str, number: int, option: str) -> Path:
    """Where the heat map of one option over one picture of a problem is written."""

    def safe(name: str) -> str:
        return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)

    return folder / f"{safe(problem)}-{number}-{safe(option)}.png"
