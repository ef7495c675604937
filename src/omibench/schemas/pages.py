"""The rows of what `ocr` read: pages, their lines, and what became of each file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.schemas.problem import Noun


class PageLine(Noun):
    """One line of a page: where it stands, who read it, and how sure that engine is."""

    text: str
    bbox: tuple[float, float, float, float]
    """x0, y0, x1, y1 in points from the top left of the page as it stands upright."""
    engine: str
    """`person` where somebody corrected it."""
    confidence: float | None = None
    math_suspect: bool = False
    """Holds a formula that its engine cannot write out."""
    left_out: str | None = None
    """Why it is no part of the page's text: `furniture`, `handwriting`, `neighbour`, ..."""


class PageText(Noun):
    """One page as it was read."""

    source: str
    page: int
    text: str
    engine: str
    turn: float = 0.0
    """Degrees clockwise by which the page was turned to stand upright."""
    lines: list[PageLine] = []


class PagePicture(Noun):
    """The picture of a page on which problems stand, upright: the row of page_pictures.jsonl."""

    source: str
    page: int
    """From 1."""
    file: str
    """Below the folder of `ocr`."""
    sha256: str
    width: float
    height: float
    """Of the page, in points; boxes of figures and lines are in these."""


CorrectionStatus = Literal["applied", "agrees", "misfit"]
"""What became of a correction: it was made; reading says the same without it by now; or what it is
about is no longer there as it was."""


class CorrectionRow(Noun):
    """What became of one entry of `corrections.yaml`."""

    line: int
    place: str
    kind: str
    """What it sets: `formula`, `text`, `choice`, `answer`, ..."""
    by: str
    status: CorrectionStatus
    reason: str = ""
    """Why it does not fit."""
    problems: list[str] = []
    """Numbers of the problems that it is about."""


class FileReport(Noun):
    """What became of one input file of `ocr`."""

    source: str
    status: Literal["ok", "warning", "error"]
    codes: list[str] = []
    where: dict[str, str] = {}
    """The pages that a code is about, such as `pages 3-4`."""
    pages: int = 0
    seconds: float = 0.0
    cpu_s: float | None = None
    """CPU seconds of the reading process; None where the system does not tell."""
    peak_mb: int | None = None
    """The most memory that it held, in MiB."""
    corrections: Annotated[
        list[CorrectionRow], Field(exclude_if=lambda corrections: not corrections)
    ] = []
    """Left out where nobody corrected anything."""


class OcrReport(Noun):
    """`report.json` of ocr: one entry a file, in the order they were given."""

    files: list[FileReport]
    problems_sha256: str | None = None
    """Of `problems.jsonl` as it was written: an edit by hand is not overwritten."""
