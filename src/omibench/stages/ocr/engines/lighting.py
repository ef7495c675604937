"""Remove shadows, lamps and yellow paper from a picture, so that only ink is dark."""

from __future__ import annotations

from omibench.stages.ocr.engines.engine import Pixels

_SPOT = 12
"""The share of the shorter side of the spots that estimate the paper's brightness."""
_PAPER = 235.0
_COARSE = 4
"""The downscaling factor for smoothing the paper's brightness."""


def evenly_lit(picture: Pixels) -> Pixels:
    """Return the picture in grey (three equal channels), with uniform paper brightness.

    The brightest value around a point is taken as the paper there; ink keeps its contrast to it.
    """
    import cv2
    import numpy as np

    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    height, width = grey.shape
    side = max(3, min(height, width) // _SPOT | 1)
    closed = cv2.morphologyEx(grey, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))
    size = (max(1, width // _COARSE), max(1, height // _COARSE))
    coarse = cv2.resize(closed, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    smooth = cv2.GaussianBlur(coarse, (0, 0), side / 2 / _COARSE)
    paper = cv2.resize(smooth, (width, height), interpolation=cv2.INTER_LINEAR)
    even = np.clip(grey / np.maximum(paper, 1) * np.float32(_PAPER), 0, 255).astype(np.uint8)
    return np.repeat(even[:, :, None], 3, axis=2)
