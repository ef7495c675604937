"""Detect the direction of text lines in a picture from its ink, in milliseconds."""

from __future__ import annotations

from omibench.stages.ocr.engines.engine import Pixels

_SIDE = 800
"""The longer side of the downscaled picture, in pixels."""
_TILE = 80
_INK = 60.0
"""Levels of grey: darker ink is capped, so that thick rules do not outweigh letters."""
_MIN_RATIO = 1.3


def lies_on_side(picture: Pixels) -> bool:
    """Guess whether text runs in columns: more inked tiles vary along columns than along rows.

    Rows of letters with white between them make the mean ink of a tile's pixel rows vary more than
    that of its pixel columns. Figures and tables have columns too.
    """
    import cv2
    import numpy as np

    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    factor = min(1.0, _SIDE / max(grey.shape))
    height, width = (max(1, round(side * factor) // _TILE) for side in grey.shape)
    small = cv2.resize(grey, (width * _TILE, height * _TILE), interpolation=cv2.INTER_AREA)
    paper = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((15, 15), np.uint8))
    ink = np.minimum(cv2.subtract(paper, small), _INK).astype(np.float32)
    tiles = ink.reshape(height, _TILE, width, _TILE)
    rows, columns = tiles.mean(axis=3).var(axis=1), tiles.mean(axis=1).var(axis=2)
    amount = tiles.mean(axis=(1, 3))
    inked = amount >= np.median(amount)
    return bool(
        np.count_nonzero(inked & (columns > _MIN_RATIO * rows))
        > np.count_nonzero(inked & (rows > _MIN_RATIO * columns))
    )
