"""Occluding a picture: a black patch over a part of it, as USNCO-V's saliency analysis has it."""

from __future__ import annotations

import json
import math
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image


def occlude(image: Image.Image, share: float, seed: int, sha256: str) -> Image.Image:
    """A picture under a black patch of its own shape that covers `share` of its area.

    The place depends on the seed and the original's SHA-256 alone. A share of 1 hides all of it.
    """
    rng = Random(json.dumps([seed, sha256, "occluded"]))  # noqa: S311
    across, down = rng.random(), rng.random()
    wide, high = (max(1, round(side * math.sqrt(share))) for side in image.size)
    x, y = round(across * (image.width - wide)), round(down * (image.height - high))
    hidden = image.copy()
    hidden.paste((0, 0, 0), (x, y, x + wide, y + high))
    return hidden
