"""Generated pictures of the demonstration: an apparatus, a curve, a page."""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omibench.schemas.problem import BBox
from omibench.schemas.review import TaskPicture

if TYPE_CHECKING:
    from PIL.Image import Image

_PAPER, _INK, _BLUE = "#ffffff", "#222222", "#3465a4"
PAGE_BOXES: Final[list[BBox]] = [(0.08, 0.16, 0.92, 0.3), (0.1, 0.36, 0.9, 0.66)]
"""The boxes of the problem on the page, as shares of its width and height."""


def draw_pictures(folder: Path) -> list[TaskPicture]:
    """Write the pictures of an invented problem, and its page, into a review folder.

    Args:
        folder: The review folder.

    Returns:
        Two pictures of the problem, and the page with its boxes.
    """
    return [
        _write(folder, _draw_apparatus(), label="apparatus"),
        _write(folder, _draw_curve(), label="temperature"),
        _write(folder, _draw_page(), part="page", label="page 1", boxes=PAGE_BOXES),
    ]


def _write(folder: Path, image: Image, **values: object) -> TaskPicture:
    buffer = BytesIO()
    image.save(buffer, "PNG")
    data = buffer.getvalue()
    fields = {"sha256": hashlib.sha256(data).hexdigest(), "suffix": "png", **values}
    picture = TaskPicture.model_validate(fields)
    path = folder / picture.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return picture


def _draw_apparatus() -> Image:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (480, 360), _PAPER)
    draw = ImageDraw.Draw(image)
    draw.rectangle((140, 120, 340, 320), outline=_INK, width=4)
    draw.rectangle((144, 200, 336, 316), fill="#a9c6e8")
    draw.line((240, 40, 240, 280), fill=_INK, width=5)
    draw.text((352, 240), "25 mL + 25 mL", fill=_INK, font_size=18)
    draw.text((252, 40), "thermometer", fill=_INK, font_size=18)
    return image


def _draw_curve() -> Image:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (560, 360), _PAPER)
    draw = ImageDraw.Draw(image)
    draw.line((60, 20, 60, 310, 540, 310), fill=_INK, width=3)
    draw.line((60, 270, 180, 270, 230, 90, 540, 110), fill=_BLUE, width=4)
    draw.text((70, 16), "T in K", fill=_INK, font_size=18)
    draw.text((450, 322), "time in s", fill=_INK, font_size=18)
    draw.text((70, 276), "298.0", fill=_INK, font_size=16)
    draw.text((240, 66), "304.2", fill=_INK, font_size=16)
    return image


def _draw_page() -> Image:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (620, 877), _PAPER)
    draw = ImageDraw.Draw(image)
    draw.text((60, 60), "INVENTED PAPER", fill=_INK, font_size=28)
    for row in range(4):
        draw.rectangle((60, 150 + 28 * row, 540 - 60 * (row == 3), 160 + 28 * row), fill="#888888")
    draw.rectangle((70, 330, 550, 570), outline=_INK, width=3)
    draw.line((100, 540, 200, 540, 250, 390, 520, 405), fill=_BLUE, width=4)
    for row in range(8):
        draw.rectangle((60, 620 + 28 * row, 560, 630 + 28 * row), fill="#bbbbbb")
    return image
