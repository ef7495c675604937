"""Crops of formulas that another reader is asked for, and its replies.

The process that puts a paper together reaches no network: it leaves crops in one folder and finds
replies in another, both by the SHA-256 of the crop's bytes, so that each is asked for once.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import BaseModel

from omibench.stages.ocr.layout.layout import Box
from omibench.stages.ocr.layout.scans import render_page

if TYPE_CHECKING:
    import pymupdf

    from omibench.stages.ocr.engines.engine import Pixels

CropKind = Literal["formula", "line"]
"""`formula`: the crop shows one formula alone; `line`: a line of text with formulas."""
MARGIN = 3.0
"""Points around the box of a formula: accents and serifs may stand out of it."""
LINE_MARGIN = 0.5
"""Points above and below a line, whose box has room around its letters: its neighbours are near."""


class CropReply(BaseModel):
    """What a reader said of a crop; `text` is None where it gave no answer."""

    reader: str
    text: str | None = None


class CropName(NamedTuple):
    """A crop that waits for a reader: its kind, the place of its file and page, and its hash."""

    kind: CropKind
    place: int
    page: int
    sha256: str

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.kind}-{self.place}-{self.page}-{self.sha256}.png"


def parse_crop_name(file: str) -> CropName:
    """Read the name of a crop's file."""
    kind, place, page, digest = file.removesuffix(".png").split("-")
    return CropName("formula" if kind == "formula" else "line", int(place), int(page), digest)


def reply_file(folder: Path, kind: CropKind, sha256: str) -> Path:
    """Where the reply about a crop lies."""
    return folder / f"{kind}-{sha256}.json"


class CropDesk:
    """Finds replies about crops, and keeps the crops that wait for one."""

    def __init__(self, waiting: Path, replies: Path) -> None:
        self.waiting, self.replies = waiting, replies
        self.count = 0
        """How many crops wait."""

    def find_reply(self, kind: CropKind, crop: bytes, place: int, page: int) -> CropReply | None:
        """The reply about a crop; where there is none yet, the crop is kept to be asked for.

        Args:
            kind: What it shows.
            crop: A PNG.
            place: Of its file among those of the source.
            page: On which it stands, from 1.
        """
        digest = hashlib.sha256(crop).hexdigest()
        path = reply_file(self.replies, kind, digest)
        if path.is_file():
            # A file of our own: a reader of files of others asks for more memory than is left.
            return CropReply.model_validate_json(path.read_bytes())
        self.waiting.mkdir(parents=True, exist_ok=True)
        (self.waiting / CropName(kind, place, page, digest).file).write_bytes(crop)
        self.count += 1
        return None


class PageCrops:
    """Cuts boxes out of a page, which is rendered once, when first needed.

    `scale` is pixels per point.
    """

    def __init__(self, page: pymupdf.Page, scale: float) -> None:
        self._page, self._scale = page, scale
        self._pixels: Pixels | None = None

    def cut(self, box: Box, margin: float = MARGIN) -> bytes | None:
        """A box with a margin as a PNG; None where nothing of it lies on the page.

        Args:
            box: In points.
            margin: Above and below it, in points.
        """
        import pymupdf

        if self._pixels is None:
            self._pixels = render_page(self._page, self._scale)
        height, width = self._pixels.shape[:2]
        x0, y0, x1, y1 = (round(value * self._scale) for value in box.grow(MARGIN, margin))
        x0, y0, x1, y1 = max(0, x0), max(0, y0), min(width, x1), min(height, y1)
        if x0 >= x1 or y0 >= y1:
            return None
        crop = self._pixels[y0:y1, x0:x1].tobytes()
        return bytes(pymupdf.Pixmap(pymupdf.csRGB, x1 - x0, y1 - y0, crop, False).tobytes("png"))
