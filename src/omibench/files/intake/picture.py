"""Untrusted pictures: checked for format, completeness and size."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import FileFormatError, reason_of
from omibench.files.intake.regular import read_bytes, size_text
from omibench.files.picture_forms import HEAD_BYTES, detect_form

PICTURE_BYTES: Final = 100 * 2**20
PIXELS: Final = 178_956_970
"""Maximum pixels of a picture, as in Pillow."""
SUFFIXES: Final = {"png": "png", "jpeg": "jpg", "gif": "gif", "webp": "webp", "bmp": "bmp"}
READERS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
"""Pillow's names of the formats; some of its other readers run programs."""
_COARSE: Final = 8


class EncodedPicture(NamedTuple):
    """A checked picture: its unchanged bytes, its format by content, and its size."""

    data: bytes
    form: str
    """`png`, `jpeg`, `gif`, `webp` or `bmp`."""
    width: int
    """Size in pixels as stored; an orientation tag can rotate it."""
    height: int

    @property
    def suffix(self) -> str:
        """File extension without the dot."""
        return SUFFIXES[self.form]


def read_picture(
    source: str | Path | bytes, place: str = "", limit: int = PICTURE_BYTES, decode: bool = True
) -> EncodedPicture:
    """Read a picture from a file or bytes; `place` identifies the latter in errors.

    The file name is ignored. With `decode` False, only the header is checked. Raises as
    `read_bytes` does, and FileFormatError if the content is not PNG, JPEG, GIF, WebP or BMP,
    cannot be decoded, is truncated, or has more than 179 million pixels or `limit` bytes.
    """
    data = source if isinstance(source, bytes) else read_bytes(source, limit)
    place = place or ("a picture" if isinstance(source, bytes) else str(source))
    if len(data) > limit:
        raise FileFormatError(
            f"{place}: has {size_text(len(data))}; the limit for a picture is {size_text(limit)}"
        )
    form = detect_form(data[:HEAD_BYTES])
    if form is None:
        raise FileFormatError(
            f"{place}: is not a picture by its first bytes; give a PNG, JPEG, GIF, WebP or BMP"
        )
    width, height = _look(data, form, place, decode)
    return EncodedPicture(data, form, width, height)


def _look(data: bytes, form: str, place: str, decode: bool) -> tuple[int, int]:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # Pillow's warning about large pictures: our own limit follows
            image = Image.open(io.BytesIO(data), formats=[form.upper()])
        size = image.size
        if size[0] * size[1] <= PIXELS and decode:
            if form == "jpeg":
                # An eighth of its width: every block is read, few are transformed.
                image.draft(None, (max(1, size[0] // _COARSE), max(1, size[1] // _COARSE)))
            image.load()
    except Image.DecompressionBombError:
        raise FileFormatError(_too_many(place)) from None
    except (OSError, SyntaxError, ValueError, EOFError, OverflowError, MemoryError) as error:
        raise FileFormatError(f"{place}: is a damaged picture: {reason_of(error)}") from None
    except Exception as error:  # Pillow raises many types of errors for damaged files
        cause = reason_of(error)
        raise FileFormatError(f"{place}: is a damaged picture: {cause}") from None
    if size[0] * size[1] > PIXELS:
        raise FileFormatError(_too_many(place))
    return size


def _too_many(place: str) -> str:
    return f"{place}: has more than {PIXELS:,} pixels; make the picture smaller"
