"""Classify pages: with a usable text layer, or to be read by an engine."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omibench.stages.ocr.layout.captions import find_captions
from omibench.stages.ocr.layout.layout import Box, Line
from omibench.stages.ocr.layout.marks import Region

MAX_BROKEN = 0.10
MIN_VISIBLE = 30
_BROKEN = re.compile("[\ufffd\ue000-\uf8ff]")
_SCANNED = 0.3


def needs_reading(lines: Sequence[Line], regions: Sequence[Region], sheet: Box) -> bool:
    """Return whether there is no text, broken text, or almost no text with a large image."""
    count = visible(lines)
    if count == 0 or is_broken(lines):
        return True
    if count >= MIN_VISIBLE or find_captions(lines):
        return False
    images = sum(r.box.width * r.box.height for r in regions if r.raster)
    return images > _SCANNED * sheet.width * sheet.height


def visible(lines: Sequence[Line]) -> int:
    """Return the number of visible characters of lines."""
    return sum(len("".join(line.text.split())) for line in lines)


def is_broken(lines: Sequence[Line]) -> bool:
    """Return whether more than a tenth of the characters have no known meaning."""
    broken = sum(len(_BROKEN.findall(line.text)) for line in lines)
    return broken > MAX_BROKEN * max(1, visible(lines))
