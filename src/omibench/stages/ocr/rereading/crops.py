"""Crops of formulas for a second reader, and its replies.

The process that assembles a paper has no network access: it writes crops to one folder and reads
replies from another, both named by the SHA-256 of the crop's bytes, so each is requested once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import BaseModel

from glyphtex.marks import Box, FormulaRegion, ShiftedBox, list_shifted
from omibench.stages.ocr.layout.scans import render_page

if TYPE_CHECKING:
    import pymupdf

    from omibench.stages.ocr.engines.engine import Pixels

CropKind = Literal["formula", "line"]
"""`formula`: the crop shows one formula alone; `line`: a line of text with formulas."""
CROP_SCALE = 300 / 72
"""Pixels per point of crops of pages that are not scans."""
MARGIN = 3.0
"""Margin around the box of a formula in points: accents and serifs can exceed it."""
LINE_MARGIN = 0.5
"""Margin above and below a line in points: its neighbours are near."""


class CropReply(BaseModel):
    """Reader's reply to a crop; `text` is None if it gave no answer."""

    reader: str
    text: str | None = None


class CropName(NamedTuple):
    """Crop that waits for a reader: its kind, the place of its file and page, and its hash."""

    kind: CropKind
    place: int
    page: int
    sha256: str

    @property
    def file(self) -> str:
        """File name of the crop."""
        return f"{self.kind}-{self.place}-{self.page}-{self.sha256}.png"


def parse_crop_name(file: str) -> CropName:
    """Parse the file name of a crop."""
    kind, place, page, digest = file.removesuffix(".png").split("-")
    return CropName("formula" if kind == "formula" else "line", int(place), int(page), digest)


def reply_file(folder: Path, kind: CropKind, sha256: str) -> Path:
    """Return the path of the reply to a crop."""
    return folder / f"{kind}-{sha256}.json"


class CropDesk:
    """Replies to crops, and the crops that wait for one."""

    def __init__(self, waiting: Path, replies: Path) -> None:
        self.waiting, self.replies = waiting, replies
        self.count = 0
        """Number of waiting crops."""

    def find_reply(self, kind: CropKind, crop: bytes, place: int, page: int) -> CropReply | None:
        """Return the reply to a crop; save the crop if it has none yet.

        Args:
            kind: Content of the crop.
            crop: PNG image.
            place: Index of its file among those of the source.
            page: Page number, from 1.
        """
        digest = hashlib.sha256(crop).hexdigest()
        path = reply_file(self.replies, kind, digest)
        if path.is_file():
            # Our own file: the reader of external files uses more memory than remains.
            return CropReply.model_validate_json(path.read_bytes())
        self.waiting.mkdir(parents=True, exist_ok=True)
        (self.waiting / CropName(kind, place, page, digest).file).write_bytes(crop)
        self.count += 1
        return None


class PageCrops:
    """Page that is rendered on first use and cut into boxes.

    `scale` is pixels per point.
    """

    def __init__(self, page: pymupdf.Page, scale: float) -> None:
        self._page, self._scale = page, scale
        self._pixels: Pixels | None = None

    def cut(self, place: Box | FormulaRegion, margin: float) -> bytes | None:
        """Return a box or a formula with a margin as a PNG, a broken formula in one line.

        None if it or a part of it is entirely off the page.

        Args:
            place: Box in points, or formula.
            margin: Margin above and below a box, in points.
        """
        parts = (
            [ShiftedBox(place.grow(MARGIN, margin), 0.0, 0.0)]
            if isinstance(place, Box)
            else list_shifted(place, MARGIN)
        )
        return self._join(parts)

    def _join(self, parts: Sequence[ShiftedBox]) -> bytes | None:
        import numpy as np
        import pymupdf

        if self._pixels is None:
            self._pixels = render_page(self._page, self._scale)
        height, width = self._pixels.shape[:2]
        placed: list[tuple[int, int, Pixels]] = []
        for box, dx, dy in parts:
            x0, y0, x1, y1 = (round(value * self._scale) for value in box)
            x0, y0, x1, y1 = max(0, x0), max(0, y0), min(width, x1), min(height, y1)
            if x0 >= x1 or y0 >= y1:
                return None
            x, y = x0 + round(dx * self._scale), y0 + round(dy * self._scale)
            placed.append((x, y, self._pixels[y0:y1, x0:x1]))
        left, top = min(x for x, _, _ in placed), min(y for _, y, _ in placed)
        right = max(x + pixels.shape[1] for x, _, pixels in placed)
        bottom = max(y + pixels.shape[0] for _, y, pixels in placed)
        canvas = np.full((bottom - top, right - left, 3), 255, dtype=np.uint8)
        for x, y, pixels in placed:
            rows, columns = pixels.shape[:2]
            canvas[y - top : y - top + rows, x - left : x - left + columns] = pixels
        picture = pymupdf.Pixmap(pymupdf.csRGB, right - left, bottom - top, canvas.tobytes(), False)
        return bytes(picture.tobytes("png"))
