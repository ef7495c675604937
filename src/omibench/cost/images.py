"""Tokens of one image by each provider's published formula, as read on 2026-11-21.

Every formula is a pure function of width and height in pixels (both at least 1) and of options.
The defaults are the largest values that the provider publishes, so unknown options are never
underestimated.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from math import ceil, floor, sqrt


def openai_tiles(
    width: int, height: int, *, detail: str = "high", base: int = 85, tile: int = 170
) -> int:
    """Count OpenAI's tiles: fit into 2048 x 2048, short side down to 768, then squares of 512.

    `detail` low is `base` alone for any size; auto counts as high. Source: OpenAI, guide "Images
    and vision", calculating costs.
    """
    if detail == "low":
        return base
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    across, down = (ceil(round(side * scale, 6) / 512) for side in (width, height))
    return base + tile * across * down


def openai_patches(
    width: int, height: int, *, multiplier: float = 2.46, most: int | None = None
) -> int:
    """Count OpenAI's patches of 32 x 32 pixels, times the model's multiplier.

    An image of more than `most` patches is scaled down until a whole number of them fits along
    its sides. Source: OpenAI, guide "Images and vision", calculating costs.
    """
    across, down = ceil(width / 32), ceil(height / 32)
    if most is not None and across * down > most:
        shrink = sqrt(most * 32 * 32 / (width * height))
        wide, high = width * shrink / 32, height * shrink / 32
        shrink *= min(floor(wide) / wide or 1.0, floor(high) / high or 1.0)
        across = max(1, ceil(round(width * shrink / 32, 6)))
        down = max(1, ceil(round(height * shrink / 32, 6)))
        across, down = min(across, most), min(down, max(1, most // across))
    return ceil(round(across * down * multiplier, 6))


def anthropic(width: int, height: int, *, longest: int = 2576, most: int = 4784) -> int:
    """Count Claude's patches of 28 x 28 pixels after resizing the image to the limits.

    It is scaled to the largest size of the same shape with a long edge of at most `longest`
    pixels and at most `most` covering patches. Source: Anthropic, "Vision" (evaluate image size)
    and "Coordinates and bounding boxes" (how Claude resizes and pads images). Models before Opus
    4.7 use 1568 pixels and 1568 patches.
    """
    limit = min(Fraction(1), Fraction(longest, max(width, height)))
    if (patches := _patches(width, height, limit)) <= most:
        return patches
    # The number of patches changes only if a side is a whole number of them.
    across, down = _along(width, height, limit, most), _along(height, width, limit, most)
    if across * height >= down * width:
        return max(1, across * _ceil(height * across, width))
    return down * _ceil(width * down, height)


def _patches(width: int, height: int, scale: Fraction) -> int:
    return max(1, ceil(width * scale / 28)) * max(1, ceil(height * scale / 28))


def _along(side: int, other_side: int, limit: Fraction, cap: int) -> int:
    """Return the most whole patches of a side within `cap`, scaled by less than `limit`; or 0."""
    bound = _ceil(side * limit.numerator, 28 * limit.denominator) - 1
    # The total grows with the patches along one side, so the first excess is decisive.
    return bisect_right(range(1, bound + 1), cap, key=lambda n: n * _ceil(other_side * n, side))


def _ceil(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def gemini(width: int, height: int, *, fixed: int | None = None) -> int:
    """Count Gemini's tiles up to version 2.5; from version 3 the `fixed` tokens of a resolution.

    An image of up to 384 pixels on both sides is 258 tokens. Otherwise the tile size is the
    short side over 1.5, between 256 and 768 pixels, at 258 tokens per tile. Source: Google,
    "Image understanding" (calculate tokens) and "Media resolution" (280, 560, 1120 or 2240
    tokens).
    """
    if fixed is not None:
        return fixed
    if width <= 384 and height <= 384:
        return 258
    unit = min(768, max(256, floor(min(width, height) / 1.5)))
    return 258 * ceil(width / unit) * ceil(height / unit)


def qwen_vl(
    width: int,
    height: int,
    *,
    patch: int = 28,
    min_pixels: int | None = None,
    max_pixels: int | None = None,
) -> int:
    """Count Qwen-VL's merged patches and the two tokens around them.

    `patch` is 28 pixels for Qwen2-VL and Qwen2.5-VL and 32 for Qwen3-VL. The sides are rounded
    to whole patches, then the image is scaled to 4 to 16384 patches, or to the given pixels.
    Source: Qwen2.5-VL's image processor (`smart_resize`) and Alibaba Cloud Model Studio, "Visual
    understanding" (h_bar * w_bar / token_pixels + 2).
    """
    smallest, largest = min_pixels or 4 * patch**2, max_pixels or 16384 * patch**2
    high, wide = (max(patch, round(side / patch) * patch) for side in (height, width))
    if high * wide > largest:
        shrink = sqrt(height * width / largest)
        high, wide = (max(patch, floor(s / shrink / patch) * patch) for s in (height, width))
    elif high * wide < smallest:
        grow = sqrt(smallest / (height * width))
        high, wide = (ceil(side * grow / patch) * patch for side in (height, width))
    return high * wide // patch**2 + 2
