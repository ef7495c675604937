"""Pictures that others gave: of a form that models take, whole, and not too large."""

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
"""The most pixels of a picture, as Pillow has it."""
SUFFIXES: Final = {"png": "png", "jpeg": "jpg", "gif": "gif", "webp": "webp", "bmp": "bmp"}
READERS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
"""Pillow's names of the forms: of its readers of others some run programs."""
_COARSE: Final = 8


class EncodedPicture(NamedTuple):
    """A picture that was looked at: its bytes as they are, its form by content, its size."""

    data: bytes
    form: str
    """`png`, `jpeg`, `gif`, `webp` or `bmp`."""
    width: int
    """In pixels, as stored: an orientation tag may turn it."""
    height: int

    @property
    def suffix(self) -> str:
        """What its file's name ends with, without the dot."""
        return SUFFIXES[self.form]


def read_picture(
    source: str | Path | bytes, place: str = "", limit: int = PICTURE_BYTES, decode: bool = True
) -> EncodedPicture:
    """A picture from its file or its bytes; `place` names the latter in errors.

    Nothing goes by the name of the file. `decode` False looks at its head alone. Raises as
    `read_bytes` does, and FileFormatError for what is no PNG, JPEG, GIF, WebP or BMP by its
    content, cannot be decoded, is cut off, or has more than 179 million pixels or `limit` bytes.
    """
    data = source if isinstance(source, bytes) else read_bytes(source, limit)
    place = place or ("a picture" if isinstance(source, bytes) else str(source))
    if len(data) > limit:
        raise FileFormatError(
            f"{place}: has {size_text(len(data))}; a picture may have {size_text(limit)}"
        )
    form = detect_form(data[:HEAD_BYTES])
    if form is None:
        raise FileFormatError(
            f"{place}: is no picture by its first bytes: give a PNG, JPEG, GIF, WebP or BMP"
        )
    width, height = _look(data, form, place, decode)
    return EncodedPicture(data, form, width, height)


def _look(data: bytes, form: str, place: str, decode: bool) -> tuple[int, int]:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Pillow on large pictures: our own bound follows
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
    except Exception as error:  # Pillow's readers raise many kinds for damaged files
        cause = reason_of(error)
        raise FileFormatError(f"{place}: is a damaged picture: {cause}") from None
    if size[0] * size[1] > PIXELS:
        raise FileFormatError(_too_many(place))
    return size


def _too_many(place: str) -> str:
    return f"{place}: has more than {PIXELS:,} pixels: make the picture smaller"
