"""Positions of patches, and the size of analysed pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from omibench.models.provider import add_logprobs
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


# Saliency from log-probabilities: S = log P(uncovered) - log P(covered) of one option.
#
# P is over the problem's options. S > 0: the patch covers evidence for the option; S < 0: evidence
# against it (USNCO-V, Methods, equation 7).

Scores = Mapping[str, float]
"""Log-probability (nats) of each option."""


def normalise(scores: Scores) -> Scores:
    """Normalize log-probabilities over the options: exp of all of them sums to 1.

    Args:
        scores: Log-probability (nats) of each option among all possible next tokens.
    """
    total = add_logprobs(scores.values())
    return {option: value - total for option, value in scores.items()}


def measure_mass(scores: Scores) -> float:
    """Return the total probability of all options; `scores` as in `normalise`."""
    return min(1.0, math.exp(add_logprobs(scores.values())))


class Effect(NamedTuple):
    """The effect of covering one position: `drop` in nats, positive if the option loses."""

    patch: Patch
    drop: float


def measure_effects(
    base: Scores, covered: Sequence[tuple[Patch, Scores]], option: str
) -> list[Effect]:
    """Return the effect of every position on one option, without positions that do not score it."""
    return [
        Effect(patch, base[option] - scores[option])
        for patch, scores in covered
        if option in scores
    ]


def measure_impact(patch_effects: Sequence[Effect]) -> float:
    """Return the occlusion impact r: the largest absolute effect, in nats; 0 without positions."""
    return max((abs(effect.drop) for effect in patch_effects), default=0.0)


def select_strongest(patch_effects: Sequence[Effect], top: int) -> list[Effect]:
    """Return the `top` largest absolute effects, largest first."""
    return sorted(patch_effects, key=lambda effect: -abs(effect.drop))[:top]


# Heat maps over a picture: red if covering hurts the option, blue if it helps.
#
# The scale is symmetric about zero, so that equal colour strength means equal effect.

SUPPORTS, AGAINST = (178, 24, 43), (33, 102, 172)
STRONGEST = 0.6
"""Opacity of the largest effect."""
BAR, PAD, LETTERS = 12, 8, 12
INK = (20, 20, 20)


def overlay(image: Image.Image, patch_effects: Sequence[Effect], caption: str) -> Image.Image:
    """Return the picture with effects as overlay, a colour bar at the side and a caption on top.

    Overlapping patches show the mean of their effects.
    """
    from PIL import Image

    largest = measure_impact(patch_effects)
    pixels = np.asarray(image.convert("RGB"), dtype=np.float32)
    total = np.zeros(pixels.shape[:2], dtype=np.float32)
    count = np.zeros_like(total)
    for (x, y, side), drop in patch_effects:
        total[y : y + side, x : x + side] += drop
        count[y : y + side, x : x + side] += 1
    mean = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
    strength = (np.abs(mean) / largest if largest else mean)[..., None] * STRONGEST
    colour = np.where(
        mean[..., None] >= 0, np.array(SUPPORTS, np.float32), np.array(AGAINST, np.float32)
    )
    blended = pixels * (1 - strength) + colour * strength
    heat = Image.fromarray(np.round(blended).astype(np.uint8), "RGB")
    return _draw_frame(heat, largest, caption)


def _draw_frame(heat: Image.Image, largest: float, caption: str) -> Image.Image:
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(LETTERS)
    labels = [f"+{largest:.3g} nats", "0", f"-{largest:.3g} nats"]
    wide = max(round(font.getlength(text)) for text in labels)
    top = LETTERS + 2 * PAD
    width = max(heat.width + 3 * PAD + BAR + wide, round(font.getlength(caption)) + 2 * PAD)
    canvas = Image.new("RGB", (width, heat.height + top + PAD), "white")
    canvas.paste(heat, (PAD // 2, top))
    draw = ImageDraw.Draw(canvas)
    draw.text((PAD // 2, PAD), caption, INK, font)
    bar_x, middle = heat.width + PAD, top + heat.height / 2
    for row in range(heat.height):
        value = 1 - 2 * row / max(1, heat.height - 1)
        draw.line([(bar_x, top + row), (bar_x + BAR, top + row)], _mix_colour(value))
    for text, y in zip(labels, (top, middle, top + heat.height), strict=True):
        anchor = "lt" if y == top else "lb" if y > middle else "lm"
        draw.text((bar_x + BAR + PAD // 2, y), text, INK, font, anchor=anchor)
    return canvas


def _mix_colour(value: float) -> tuple[int, ...]:
    tint, depth = (SUPPORTS if value >= 0 else AGAINST), abs(value) * STRONGEST
    return tuple(round(255 * (1 - depth) + channel * depth) for channel in tint)
