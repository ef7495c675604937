"""The composite: all pictures of a problem in order on one canvas, with or without labels.

OMIBench's single-image control (section 5 and appendix L) concatenates them; labels are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

LONGEST = 4096
"""Maximum pixels of the canvas's long side."""
SHRINK = 0.95
GAP, MARGIN = 24, 16
INK, FRAME = (20, 20, 20), (160, 160, 160)

Size = tuple[int, int]


class CompositeLayout(NamedTuple):
    """Position and size of each picture on the canvas."""

    canvas: Size
    boxes: Sequence[tuple[int, int, int, int]]
    letters: int
    """Height of the labels' letters in pixels; 0 without labels."""


def compose(
    images: Sequence[Image.Image], labels: Sequence[str] = (), stem: int | None = None
) -> Image.Image:
    """Return one canvas with every picture, in rows, in order.

    Pictures are never enlarged. If the canvas would be longer than `LONGEST`, only the largest
    pictures are scaled down, to a common length of the long side.

    Args:
        images: The pictures, in RGB.
        labels: One per picture, above it, with a frame around it; default: no labels.
        stem: Number of pictures in the statement: those of choices begin a new row. None: one
            sequence.

    Returns:
        The canvas, with a white background.
    """
    plan = layout([image.size for image in images], stem, labelled=bool(labels))
    canvas = Image.new("RGB", plan.canvas, "white")
    if labels:
        _draw_labels(ImageDraw.Draw(canvas), plan, labels)
    for image, (x, y, wide, high) in zip(images, plan.boxes, strict=True):
        fitting = image if image.size == (wide, high) else _smaller(image, (wide, high))
        canvas.paste(fitting, (x, y))
    return canvas


def layout(
    sizes: Sequence[Size], stem: int | None = None, *, labelled: bool = True
) -> CompositeLayout:
    """Return the canvas with the shortest long side for pictures of these sizes in order.

    The long side matters because pictures are scaled down by it. Arguments as for `compose`; sizes
    are (width, height) in pixels.
    """
    stem = len(sizes) if stem is None else stem
    bound = max(max(size) for size in sizes)
    while True:
        fitted = [_within(size, bound) for size in sizes]
        counts = product(range(1, max(stem, 1) + 1), range(1, max(len(sizes) - stem, 1) + 1))
        plans = [
            _plan([*_split(fitted[:stem], a), *_split(fitted[stem:], b)], labelled)
            for a, b in counts
        ]
        best = min(plans, key=lambda plan: (max(plan.canvas), plan.canvas[0] * plan.canvas[1]))
        if max(best.canvas) <= LONGEST:
            return best
        bound = int(bound * SHRINK)


def _split(sizes: Sequence[Size], in_a_row: int) -> list[Sequence[Size]]:
    return [sizes[start : start + in_a_row] for start in range(0, len(sizes), in_a_row)]


def _draw_labels(draw: ImageDraw.ImageDraw, plan: CompositeLayout, labels: Sequence[str]) -> None:
    font = ImageFont.load_default(plan.letters)
    for label, (x, y, wide, high) in zip(labels, plan.boxes, strict=True):
        draw.text((x, y - plan.letters // 2), label, INK, font, anchor="ls")
        draw.rectangle((x - 2, y - 2, x + wide + 1, y + high + 1), outline=FRAME)


def _plan(rows: Sequence[Sequence[Size]], labelled: bool) -> CompositeLayout:
    longest = max(max(size) for row in rows for size in row)
    letters = min(48, max(20, longest // 24)) if labelled else 0
    boxes: list[tuple[int, int, int, int]] = []
    right, y = 0, MARGIN
    for row in rows:
        x, y = MARGIN, y + 2 * letters
        for wide, high in row:
            boxes.append((x, y, wide, high))
            x += max(wide, 5 * letters) + GAP
        right = max(right, x - GAP)
        y += max(high for _, high in row) + GAP
    return CompositeLayout((right + MARGIN, y - GAP + MARGIN), boxes, letters)


def _within(size: Size, bound: int) -> Size:
    scale = min(1.0, bound / max(size))
    wide, high = size
    return max(1, round(wide * scale)), max(1, round(high * scale))


def _smaller(image: Image.Image, size: Size) -> Image.Image:
    return image.resize(size, Image.Resampling.LANCZOS)
