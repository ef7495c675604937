"""Pictures for local engines: each opened, checked and decoded once while in use."""

from __future__ import annotations

import io
import os
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from omibench.errors import MissingInputError, ModelError, reason_of
from omibench.files.intake import read_bytes
from omibench.files.intake.picture import READERS
from omibench.schemas.request import ImagePart

if TYPE_CHECKING:
    from PIL.Image import Image

DECODED = 256
"""Decoded pictures kept for later requests."""


def pixels(image: ImagePart) -> int:
    """Return the pixels of a picture from its header. Raises as `decode`."""
    return _pixels(image.path, _state(image))


def decode(image: ImagePart) -> Image:
    """Decode a picture as RGB: rotated by its EXIF tag, on white if transparent.

    Raises MissingInputError if the file is missing, and ModelError if Pillow cannot read it or it
    has more pixels than Pillow's MAX_IMAGE_PIXELS.
    """
    picture = _decode(image.path, image.sha256, _state(image))
    return picture if image.patch is None else cover_patch(picture, image.patch)


def cover_patch(image: Image, patch: tuple[int, int, int]) -> Image:
    """Copy an RGB picture with a black square of `side` pixels at (x, y)."""
    x, y, side = patch
    copy = image.copy()
    copy.paste((0, 0, 0), (x, y, x + side, y + side))
    return copy


def _state(image: ImagePart) -> tuple[int, int]:
    try:
        file_stat = os.stat(image.path)  # noqa: PTH116
    except OSError as error:
        name = image.path or f"image {image.sha256[:12]}"
        raise MissingInputError(f"{name}: cannot be opened: {reason_of(error)}") from None
    return file_stat.st_mtime_ns, file_stat.st_size


@lru_cache(maxsize=65536)
def _pixels(path: str, state: tuple[int, int]) -> int:
    with _open_image(path) as image:
        return int(image.width * image.height)


@lru_cache(maxsize=DECODED)
def _decode(path: str, sha256: str, state: tuple[int, int]) -> Image:
    from PIL import Image, ImageOps

    with _open_image(path) as image:
        try:
            upright = ImageOps.exif_transpose(image)
            if not upright.has_transparency_data:
                return upright.convert("RGB")
            layer = upright.convert("RGBA")
        except (OSError, ValueError, SyntaxError) as error:
            raise ModelError(
                f"{path}: is damaged and cannot be decoded: {reason_of(error)}; restore the file"
            ) from None
    white = Image.new("RGBA", layer.size, "white")
    return Image.alpha_composite(white, layer).convert("RGB")


def _open_image(path: str) -> Any:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            # Up to twice its limit Pillow only warns; such a picture is rejected here.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return Image.open(io.BytesIO(read_bytes(path)), formats=READERS)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise ModelError(
            f"{path}: has more than {Image.MAX_IMAGE_PIXELS} pixels, the supported maximum; scale "
            "the picture down and freeze the dataset again"
        ) from None
    except (OSError, ValueError, SyntaxError) as error:
        raise ModelError(f"{path}: is not a readable picture: {reason_of(error)}") from None
