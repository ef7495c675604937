"""Shadows, lamps and yellow paper taken out of a picture, so that ink alone is dark."""

from __future__ import annotations

from omibench.ocr.engines.engine import Pixels

_SPOT = 12
"""The paper's brightness is looked at in spots of a twelfth of the shorter side."""
_PAPER = 235.0


def evenly_lit(picture: Pixels) -> Pixels:
    """The picture in grey (three equal channels), its paper of one brightness everywhere.

    What is brightest around a point is the paper there; ink is as dark as it is beside it.
    """
    import cv2
    import numpy as np

    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
    side = max(3, min(picture.shape[:2]) // _SPOT | 1)
    paper = cv2.morphologyEx(grey, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))
    paper = cv2.GaussianBlur(paper, (0, 0), side / 2)
    even = np.clip(grey / np.maximum(paper, 1) * _PAPER, 0, 255).astype(np.uint8)
    return np.repeat(even[:, :, None], 3, axis=2)
