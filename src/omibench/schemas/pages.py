"""Rows of the output of `ocr`: pages, their lines, and the status of each file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.schemas.problem import FrozenModel


class PageLine(FrozenModel):
    """One line of a page: its position, the engine that read it, and its confidence."""

    text: str
    bbox: tuple[float, float, float, float]
    """x0, y0, x1, y1 in points from the top left of the upright page."""
    engine: str
    """`person` if corrected manually."""
    confidence: float | None = None
    math_suspect: bool = False
    """Contains a formula that its engine cannot transcribe."""
    left_out: str | None = None
    """Why it is not part of the page's text: `furniture`, `handwriting`, `neighbour`, ..."""
    ink_read: Annotated[float | None, Field(exclude_if=lambda share: share is None)] = None
    """Share of its ink, and of unread ink next to it, that was read; omitted if all was."""


class PageInk(FrozenModel):
    """Ink of a page that is in no text, formula or figure."""

    bbox: tuple[float, float, float, float]
    """As of a line."""
    what: str
    """Description, such as `a picture of 25 x 10 points`."""


class PageText(FrozenModel):
    """One page as it was read."""

    source: str
    page: int
    text: str
    engine: str
    turn: float = 0.0
    """Clockwise rotation in degrees that made the page upright."""
    lines: list[PageLine] = []
    ink_read: Annotated[float | None, Field(exclude_if=lambda share: share is None)] = None
    """Share of the page's ink that was read, from 0 to 1; omitted without a text layer."""
    unread: Annotated[list[PageInk], Field(exclude_if=lambda unread: not unread)] = []
    """Ink that was not read; omitted if all was."""


class PagePicture(FrozenModel):
    """Picture of an upright page with problems: the row of page_pictures.jsonl."""

    source: str
    page: int
    """Page number, from 1."""
    file: str
    """Path below the folder of `ocr`."""
    sha256: str
    width: float
    height: float
    """Size of the page in points; boxes of figures and lines use these units."""


CorrectionStatus = Literal["applied", "agrees", "misfit"]
"""Status of a correction: applied; already read correctly without it; or its target has changed or
is gone.
"""


class CorrectionRow(FrozenModel):
    """Status of one entry of `corrections.yaml`."""

    line: int
    place: str
    file: Annotated[str, Field(exclude_if=lambda file: not file)] = ""
    """Name of the key or solutions with the place; omitted for the paper."""
    kind: str
    """Corrected field: `formula`, `text`, `choice`, `answer`, ..."""
    by: str
    status: CorrectionStatus
    reason: str = ""
    """Why it does not apply."""
    problems: list[str] = []
    """Numbers of the problems concerned."""

    @property
    def where(self) -> str:
        """The place, with its file if that is not the paper."""
        return f"{self.place} of {self.file}" if self.file else self.place


class FileReport(FrozenModel):
    """Status of one input file of `ocr`."""

    source: str
    status: Literal["ok", "warning", "error"]
    codes: list[str] = []
    where: dict[str, str] = {}
    """Pages to which a code applies, such as `pages 3-4`."""
    pages: int = 0
    seconds: float = 0.0
    cpu_s: float | None = None
    """CPU seconds of the reading process; None if not reported by the system."""
    peak_mb: int | None = None
    """Maximum memory used, in MiB."""
    corrections: Annotated[
        list[CorrectionRow], Field(exclude_if=lambda corrections: not corrections)
    ] = []
    """Omitted without corrections."""


class OcrReport(FrozenModel):
    """`report.json` of ocr: one entry per file, in the given order."""

    files: list[FileReport]
    problems_sha256: str | None = None
    """Hash of `problems.jsonl` as written: a manual edit is not overwritten."""
