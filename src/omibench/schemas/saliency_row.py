"""The row of `saliency/{model}/{setting}.parquet`, and the version of what it measures."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from omibench.schemas.problem import Noun

VERSION = 2
"""Of what is measured. 1: the letter asked for anew behind the whole response, log-probabilities
over the whole vocabulary. 2: the letter at its place inside the response, over the options."""

SaliencyOutcome = Literal["scored", "no_response", "no_letter", "no_logprobs"]


class SaliencyRow(Noun):
    """What covering one place of one picture does to one option of a problem (see saliency.md).

    `drop` is log P(option) uncovered (`logprob`) less that under the patch, in nats, P over the
    problem's options. `x`, `y` and `side` are pixels of the picture with the hash `sha256`, which
    is the one that was shown. A problem that is not scored has one row, with the reason.
    """

    id: str
    outcome: str = "scored"
    """`scored`, or why there are no numbers: a `SaliencyOutcome`."""
    reason: str | None = None
    """Why the problem is not scored."""
    version: int = 1
    """Of the measurement."""
    reading: str = ""
    """What of the response stands before the letter: `final_letter` or `before_answer`."""
    max_pixels: int | None = None
    """Pixels to which pictures were scaled down at most; None for their original resolution."""
    stride: int = 0
    """Pixels from one place to the next."""
    key: str = ""
    """Key of the uncovered request."""
    image: int = 0
    """Which of the pictures that are shown, from 0."""
    sha256: str = ""
    x: int = 0
    y: int = 0
    side: int = 0
    option: str = ""
    logprob: float | None = None
    drop: float | None = None
    mass: float | None = None
    """Probability of all options together among all that could come next, nothing covered."""
    declares: bool = False
    """Whether what stands before the letter says already which option is the answer."""
    chosen: bool = False
    """Whether it is the option that the response ends on."""
    right: bool = False
    simulated: bool = False


def map_file(folder: Path, problem: str, number: int, option: str) -> Path:
    """Where the heat map of one option over one picture of a problem is written."""

    def safe(name: str) -> str:
        return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)

    return folder / f"{safe(problem)}-{number}-{safe(option)}.png"
