"""Where the patches lie, and how large a picture is when it is looked into."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from omibench.params.saliency import SaliencyParams

if TYPE_CHECKING:
    from PIL import Image

Size = tuple[int, int]
Patch = tuple[int, int, int]
"""(x, y, side) in pixels from the top left corner, as `ImagePart.patch`."""


def fitted(size: Size, params: SaliencyParams) -> Size:
    """The size at which a picture is looked into: multiples of the stride near its own shape.

    At most `max_pixels`, and at least one patch along each side. A model whose own scaling keeps
    such sizes sees exactly the squares that are painted.
    """
    wide, high = size
    scale = min(1.0, math.sqrt(params.max_pixels / (wide * high)))
    step, least = params.stride, _up(params.patch, params.stride)
    width = max(least, round(wide * scale / step) * step)
    height = max(least, round(high * scale / step) * step)
    while width * height > params.max_pixels and max(width, height) > least:
        if width >= height:
            width -= step
        else:
            height -= step
    return width, height


def positions(size: Size, params: SaliencyParams) -> list[Patch]:
    """Every position of the patch, row by row; together they cover the picture."""
    wide, high = size
    side = params.patch
    return [
        (x, y, side)
        for y in _starts(high, side, params.stride)
        for x in _starts(wide, side, params.stride)
    ]


def resized(image: Image.Image, params: SaliencyParams) -> Image.Image:
    """The picture at its `fitted` size."""
    from PIL import Image

    size = fitted(image.size, params)
    return image if image.size == size else image.resize(size, Image.Resampling.LANCZOS)


def _starts(length: int, side: int, stride: int) -> list[int]:
    starts = list(range(0, length - side + 1, stride))
    # A side that is no multiple of the stride away from the edge would leave a strip uncovered.
    return starts if starts[-1] + side >= length else [*starts, length - side]


def _up(value: int, step: int) -> int:
    return -(-value // step) * step
