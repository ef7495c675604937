"""Positions of patches, and the size of analysed pictures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from omibench.params.stages.saliency import SaliencyParams

if TYPE_CHECKING:
    from PIL import Image

Size = tuple[int, int]
Patch = tuple[int, int, int]
"""(x, y, side) in pixels from the top left corner, as `ImagePart.patch`."""


def fit_size(size: Size, params: SaliencyParams) -> Size:
    """Return the size at which a picture is analysed: its own without `max_pixels`.

    Otherwise it is a multiple of the stride near the original aspect ratio, with at most
    `max_pixels` and at least one patch along each side. A model whose scaling keeps such sizes sees
    exactly the painted squares.
    """
    if params.max_pixels is None:
        return size
    wide, high = size
    scale = min(1.0, math.sqrt(params.max_pixels / (wide * high)))
    step, min_side = params.stride, _round_up(params.patch, params.stride)
    width = max(min_side, round(wide * scale / step) * step)
    height = max(min_side, round(high * scale / step) * step)
    while width * height > params.max_pixels and max(width, height) > min_side:
        if width >= height:
            width -= step
        else:
            height -= step
    return width, height


def list_positions(size: Size, params: SaliencyParams) -> list[Patch]:
    """Return every position of the patch, row by row; together they cover the picture.

    A patch that is larger than the picture is clipped.
    """
    wide, high = size
    side = params.patch
    return [
        (x, y, side)
        for y in _list_starts(high, side, params.stride)
        for x in _list_starts(wide, side, params.stride)
    ]


def resize_picture(image: Image.Image, params: SaliencyParams) -> Image.Image:
    """Return the picture at its `fit_size` size."""
    from PIL import Image

    size = fit_size(image.size, params)
    return image if image.size == size else image.resize(size, Image.Resampling.LANCZOS)


def _list_starts(length: int, side: int, stride: int) -> list[int]:
    if length <= side:
        return [0]
    starts = list(range(0, length - side + 1, stride))
    # Without a last position at the edge, a strip would stay uncovered.
    return starts if starts[-1] + side >= length else [*starts, length - side]


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step
