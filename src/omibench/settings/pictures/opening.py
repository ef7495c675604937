"""Opens pictures: checked against the dataset and for decompression bombs, rotated, in RGB."""

from __future__ import annotations

import hashlib
import io
import warnings
from typing import NamedTuple

from PIL import Image, ImageOps

from omibench.errors import ModelError, OmibenchError, reason_of
from omibench.files.intake import read_bytes
from omibench.files.intake.picture import READERS
from omibench.files.intake.regular import open_regular
from omibench.schemas.request import ImagePart

MOST_PIXELS = 50_000_000
"""Maximum pixels of a picture: 150 MB as RGB."""
ORIENTATION = 0x0112
"""The EXIF tag of a picture's rotation."""
QUARTER_TURNS = range(5, 9)
_JPEG = ("JPEG", "MPO")


class OpenedPicture(NamedTuple):
    """A picture in RGB as a viewer shows it, and whether its file was a JPEG."""

    image: Image.Image
    jpeg: bool


def open_picture(part: ImagePart) -> OpenedPicture:
    """Open a picture of a conversation: on white if transparent, rotated by its EXIF tag.

    Raises MissingInputError if the file does not exist and ModelError if its bytes differ from the
    dataset, it has too many pixels, or it cannot be decoded.
    """
    data = read_bytes(part.path)
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise ModelError(
            f"{part.path}: its content differs from the dataset ({part.sha256[:12]}); restore the "
            "file or freeze the dataset again"
        )
    return decode_picture(data, part.path)


def read_size(path: str) -> tuple[int, int] | None:
    """Return width and height in pixels as a viewer shows a picture, from the file's header.

    None if the file is missing or its header cannot be read.
    """
    try:
        with open_regular(path) as file, Image.open(file, formats=READERS) as image:
            turned = image.getexif().get(ORIENTATION, 1) in QUARTER_TURNS
            return (image.height, image.width) if turned else (image.width, image.height)
    except (OmibenchError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def decode_picture(data: bytes, source: str) -> OpenedPicture:
    """Decode the picture in a file; `source` is its name in errors. Raises ModelError."""
    try:
        with warnings.catch_warnings():
            # Up to twice its limit, which is above ours, Pillow only warns.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=READERS)
        if image.width * image.height > MOST_PIXELS:
            raise Image.DecompressionBombError
        upright = ImageOps.exif_transpose(image)
        return OpenedPicture(_rgb(upright), image.format in _JPEG)
    except Image.DecompressionBombError:
        raise ModelError(
            f"{source}: has more than {MOST_PIXELS:,} pixels, the supported maximum; scale the "
            "picture down and freeze the dataset again"
        ) from None
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise ModelError(f"{source}: is not a readable picture: {reason_of(error)}") from None


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16"):
        # Pillow clips 16 bits to 8 instead of scaling them.
        image = image.point(lambda value: value / 256, "L")
    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    white = Image.new("RGBA", layer.size, "white")
    return Image.alpha_composite(white, layer).convert("RGB")
