"""The row of `saliency/{model}/{setting}.parquet`, and the version of what it measures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from omibench.schemas.columns import ADDED_LATER
from omibench.schemas.problem import Noun

VERSION = 2
"""Of what is measured. 1: the letter asked for again behind the whole response, log-probabilities
over the whole vocabulary. 2: the letter at its place inside the response, over the options."""

SaliencyOutcome = Literal["scored", "no_response", "no_letter", "no_logprobs"]


class SaliencyRow(Noun):
    """What covering one place of one picture does to one option of a problem (see saliency.md).

    `drop` is log P(option) uncovered (`logprob`) less that under the patch, in nats, P over the
    problem's options. `x`, `y` and `side` are pixels of the picture with the hash `sha256`, which
    is the one that was shown. A problem that is not scored has one row, with the reason.
    """

    id: str
    outcome: Annotated[str | None, ADDED_LATER] = "scored"
    """`scored`, or why there are no numbers: a `SaliencyOutcome`."""
    reason: Annotated[str | None, ADDED_LATER] = None
    """Why the problem is not scored."""
    version: Annotated[int | None, ADDED_LATER] = None
    """Of the measurement; None for the first."""
    reading: Annotated[str | None, ADDED_LATER] = None
    """What of the response stands before the letter: `final_letter` or `before_answer`."""
    max_pixels: Annotated[int | None, ADDED_LATER] = None
    """Pixels to which pictures were scaled down at most; None for their original resolution."""
    stride: Annotated[int | None, ADDED_LATER] = None
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
    mass: Annotated[float | None, ADDED_LATER] = None
    """Probability of all options together among all that could come next, nothing covered."""
    declares: Annotated[bool | None, ADDED_LATER] = False
    """Whether what stands before the letter says already that it is the option of the response."""
    chosen: bool = False
    """Whether it is the option that the response ends on."""
    right: bool = False
    simulated: bool = False


def map_file(folder: Path, problem: str, number: int, option: str) -> Path:
    """Where the heat map of one option over one picture of a problem is written."""

    def safe(name: str) -> str:
        return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)

    return folder / f"{safe(problem)}-{number}-{safe(option)}.png"
