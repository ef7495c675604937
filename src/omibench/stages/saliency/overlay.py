"""Heat maps over a picture: red if covering hurts the option, blue if it helps.

The scale is symmetric about zero, so that equal colour strength means equal effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from omibench.stages.saliency.maps import Effect, measure_impact

if TYPE_CHECKING:
    from PIL import Image

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
