"""Row of `saliency/{model}/{setting}.parquet`, and the version of its measurement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from omibench.schemas.columns import ADDED_LATER
from omibench.schemas.problem import Noun

VERSION = 2
"""Version of the measurement. 1: the letter requested again after the whole response, with
log-probabilities over the whole vocabulary. 2: the letter at its position in the response, over
the options.
"""

SaliencyOutcome = Literal["scored", "no_response", "no_letter", "no_logprobs"]


class SaliencyRow(Noun):
    """Effect of covering one patch of one picture on one option of a problem (see saliency.md).

    `drop` is log P(option) uncovered (`logprob`) minus that with the patch, in nats, P over the
    problem's options. `x`, `y` and `side` are pixels of the shown picture with the hash
    `sha256`. A problem that is not scored has one row, with the reason.
    """

    id: str
    outcome: Annotated[str | None, ADDED_LATER] = "scored"
    """`scored`, or why there are no numbers: a `SaliencyOutcome`."""
    reason: Annotated[str | None, ADDED_LATER] = None
    """Why the problem is not scored."""
    version: Annotated[int | None, ADDED_LATER] = None
    """Version of the measurement; None for the first."""
    reading: Annotated[str | None, ADDED_LATER] = None
    """Part of the response before the letter: `final_letter` or `before_answer`."""
    max_pixels: Annotated[int | None, ADDED_LATER] = None
    """Maximum pixels to which pictures were scaled down; None for their original resolution."""
    stride: Annotated[int | None, ADDED_LATER] = None
    """Pixels between patches."""
    key: str = ""
    """Key of the uncovered request."""
    image: int = 0
    """Index of the shown picture, from 0."""
    sha256: str = ""
    x: int = 0
    y: int = 0
    side: int = 0
    option: str = ""
    logprob: float | None = None
    drop: float | None = None
    mass: Annotated[float | None, ADDED_LATER] = None
    """Total probability of all options among all continuations, with nothing covered."""
    declares: Annotated[bool | None, ADDED_LATER] = False
    """Whether the text before the letter already states it as the option of the response."""
    chosen: bool = False
    """Whether it is the final option of the response."""
    right: bool = False
    simulated: bool = False


def map_file(folder: Path, problem: str, number: int, option: str) -> Path:
    """Return the path of the heat map of one option over one picture of a problem."""

    def safe(name: str) -> str:
        return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)

    return folder / f"{safe(problem)}-{number}-{safe(option)}.png"
