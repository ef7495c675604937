"""Perceptual hashes: similar pictures have hashes that differ in few bits."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.Image import Image as Picture

from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.files.intake import read_bytes
from omibench.files.intake.picture import PICTURE_BYTES, READERS


def difference_hash(picture: Path) -> int:
    """Return the 64-bit difference hash of a picture's inked area.

    White margins are cropped first, because crops of one figure differ in them. The rest is scaled
    to 9 x 4 and to 4 x 9 grey values: 32 bits state which values exceed their right neighbour, and
    32 which exceed the one below. (Curves on equal axes differ in both directions, so this
    separated more of them than 9 x 8 values compared only horizontally.)

    Raises:
        MissingInputError: The picture does not exist.
        FileFormatError: The picture cannot be read.
    """
    try:
        data = read_bytes(picture, PICTURE_BYTES)
    except MissingInputError:
        if picture.exists():
            raise
        raise MissingInputError(
            f"{picture}: picture not found; run `omibench ocr` again to write it"
        ) from None
    try:
        with Image.open(io.BytesIO(data), formats=READERS) as image:
            grey = _on_white(image)
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise FileFormatError(
            f"{picture}: cannot be read as a picture: {reason_of(error)}; replace the file or "
            "run `omibench ocr` again"
        ) from None
    inked = ImageOps.invert(grey).point(lambda value: 255 if value > 25 else 0).getbbox()
    drawing = grey.crop(inked)
    across = _falls(np.asarray(drawing.resize((9, 4), Image.Resampling.BOX), dtype=np.int16))
    down = _falls(np.asarray(drawing.resize((4, 9), Image.Resampling.BOX), dtype=np.int16).T)
    return int("".join("1" if bit else "0" for bit in np.append(across, down)), 2)


def _falls(values: NDArray[np.int16]) -> NDArray[np.bool_]:
    # A margin of one grey level keeps the noise of compression out of blank areas.
    return (values[:, :-1] > values[:, 1:] + 1).ravel()


def hamming(a: int, b: int) -> int:
    """Return the number of bits in which two hashes differ, 0 to 64."""
    return (a ^ b).bit_count()


def _on_white(image: Picture) -> Picture:
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layer = image.convert("RGBA")
        page = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(page, layer).convert("L")
    return image.convert("L")
