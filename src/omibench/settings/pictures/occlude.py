"""Occludes part of a picture with a black patch, as in USNCO-V's saliency analysis."""

from __future__ import annotations

import json
import math
from random import Random

from PIL import Image


def occlude(image: Image.Image, share: float, seed: int, sha256: str) -> Image.Image:
    """Cover `share` of a picture's area with a black patch of the same shape.

    The place depends only on the seed and the original's SHA-256. A share of 1 hides all of it.
    """
    rng = Random(json.dumps([seed, sha256, "occluded"]))  # noqa: S311
    across, down = rng.random(), rng.random()
    wide, high = (max(1, round(side * math.sqrt(share))) for side in image.size)
    x, y = round(across * (image.width - wide)), round(down * (image.height - high))
    hidden = image.copy()
    hidden.paste((0, 0, 0), (x, y, x + wide, y + high))
    return hidden
