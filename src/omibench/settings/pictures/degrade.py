"""Degrades pictures in the ways by which MathReal grades photographs (its appendix B).

Each degradation takes a picture, a grade of 1 to 3 and a random generator for place and direction;
grades of one seed share the place, so that a higher grade is a stronger version.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from omibench.params.image import DEGRADATIONS, Degradation

BLUR = (0.003, 0.007, 0.014)
"""Standard deviation relative to the picture's size, the square root of its area."""
QUARTERS = (270, 90, 180)
"""Degrees counter-clockwise: a quarter clockwise, one counter-clockwise, upside down."""
TILT = ((5.0, 12.0), (15.0, 25.0), (31.0, 40.0))
"""Degrees within the plane, in either direction: MathReal's highest grade begins at 30."""
SHADOW = ((0.2, 0.55), (0.4, 0.4), (0.7, 0.28))
"""Share of the area in shadow, and the remaining light: the highest grade begins at 60 %."""
GLARE = ((1, 0.2, 0.85), (2, 0.26, 0.95), (3, 0.32, 1.0))
"""Number of spots, their radius relative to the picture's size, and the loss at their centre."""
EXPOSURE = (0.55, 0.3, 0.1)
"""Remaining light (too dark) or remaining contrast to white (too bright)."""
_EDGE = 0.12
_COARSE = 96


def degrade(
    image: Image.Image, by: Sequence[Degradation], grade: int, seed: int, sha256: str
) -> Image.Image:
    """Return a picture with all of `by` at `grade`, in the order of `DEGRADATIONS`.

    The random values depend only on the seed, the original's SHA-256 and the degradation.
    """
    for kind in DEGRADATIONS:
        if kind in by and grade:
            rng = Random(json.dumps([seed, sha256, kind]))  # noqa: S311
            image = _WAYS[kind](image, grade - 1, rng)
    return image


def _rotation(image: Image.Image, level: int, _: Random) -> Image.Image:
    turns = {
        90: Image.Transpose.ROTATE_90,
        180: Image.Transpose.ROTATE_180,
        270: Image.Transpose.ROTATE_270,
    }
    return image.transpose(turns[QUARTERS[level]])


def _tilt(image: Image.Image, level: int, rng: Random) -> Image.Image:
    way, part = rng.choice((-1, 1)), rng.random()
    lowest, highest = TILT[level]
    angle = way * (lowest + part * (highest - lowest))
    return image.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=_paper(image))


def _paper(image: Image.Image) -> tuple[int, ...]:
    """Return the median colour of a picture's border."""
    pixels = np.asarray(image)
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    return tuple(int(value) for value in np.median(border, axis=0))


def _shadow(image: Image.Image, level: int, rng: Random) -> Image.Image:
    share, light = SHADOW[level]
    angle = rng.uniform(0, 2 * math.pi)
    x, y = _grid(image)
    along = x * math.cos(angle) + y * math.sin(angle)
    edge = float(np.quantile(along, share))
    depth = (edge - along) / (_EDGE * float(np.ptp(along)) or 1.0) + 0.5
    return _overlay(image, image.point(lambda value: round(value * light)), depth)


def _glare(image: Image.Image, level: int, rng: Random) -> Image.Image:
    spots, radius, strength = GLARE[level]
    places = [(rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8), rng.uniform(0.6, 1)) for _ in range(3)]
    x, y = _grid(image)
    reach = radius * math.sqrt(x.size)
    depth = np.zeros_like(x)
    for across, down, flat in places[:spots]:
        far = ((x - across * x.max()) / reach) ** 2 + ((y - down * y.max()) / (reach * flat)) ** 2
        depth = np.maximum(depth, np.clip(1.6 * np.exp(-far), 0, 1) * strength)
    white = image.point(lambda _: 255)
    return _overlay(image, white, depth)


def _exposure(image: Image.Image, level: int, rng: Random) -> Image.Image:
    share, dark = EXPOSURE[level], rng.random() < 0.5
    if dark:
        return image.point(lambda value: round(value * share))
    return image.point(lambda value: round(255 - (255 - value) * share))


def _blur(image: Image.Image, level: int, _: Random) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(BLUR[level] * math.sqrt(math.prod(image.size))))


def _grid(image: Image.Image) -> tuple[Any, Any]:
    """Return the coordinates of a coarse grid over a picture: its long side is `_COARSE` steps."""
    scale = _COARSE / max(image.size)
    wide, high = (max(2, round(side * scale)) for side in image.size)
    y, x = np.mgrid[0:high, 0:wide].astype(np.float64)
    return x, y


def _overlay(image: Image.Image, cover: Image.Image, depth: Any) -> Image.Image:
    """Overlay a picture with another; `depth` from 0 to 1 on the coarse grid is the strength."""
    coarse = Image.fromarray(np.round(np.clip(depth, 0, 1) * 255).astype(np.uint8))
    mask = coarse.resize(image.size, Image.Resampling.BICUBIC)
    return Image.composite(cover, image, mask)


_WAYS: dict[Degradation, Callable[[Image.Image, int, Random], Image.Image]] = {
    "rotation": _rotation,
    "tilt": _tilt,
    "shadow": _shadow,
    "glare": _glare,
    "exposure": _exposure,
    "blur": _blur,
}
