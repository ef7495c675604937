"""Pictures to test on."""

from __future__ import annotations

from collections.abc import Callable

from PIL import Image, ImageDraw

from omibench.schemas.problem import Figure

Paint = Callable[..., Figure]


def drawn(size: tuple[int, int], shade: int = 90, mode: str = "RGB") -> Image.Image:
    """A picture with lines, so that no turn or shadow of it looks like another."""
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((2, 2, size[0] // 2, size[1] // 3), fill=(shade, 40, 200 - shade // 2))
    pen.line((0, size[1] - 1, size[0] - 1, 0), fill="black", width=2)
    return image.convert(mode)
