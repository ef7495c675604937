"""Pictures drawn by models: checked and bounded, whatever provider they come from.

The bytes are untrusted: their size, format and pixels are checked before they are stored.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from omibench.errors import ModelError, reason_of
from omibench.files.pictures import HEAD_BYTES, READERS, detect_form
from omibench.schemas.request import DrawnPart, Response

if TYPE_CHECKING:
    from PIL import Image

MOST_PICTURES: Final = 16
"""Maximum pictures kept per reply."""
MOST_BYTES: Final = 20 * 10**6
MOST_PIXELS: Final = 40 * 10**6
SIDE: Final = 1024
"""Longest side in pixels of a picture that is drawn anew."""
_DATA = re.compile(r"data:image/[a-z+.-]{1,20};base64,")
_LOG = logging.getLogger("omibench")


def make_drawn(data: bytes) -> DrawnPart:
    """Return a picture of a reply from its bytes.

    Raises ValueError, with the reason, if they are not a PNG, JPEG, GIF or WebP of at most
    `MOST_BYTES` bytes and `MOST_PIXELS` pixels.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    if detect_form(data[:HEAD_BYTES]) in (None, "bmp"):
        raise ValueError("it is not a PNG, JPEG, GIF or WebP")
    with _open_bounded(data) as image:
        image.verify()
    return DrawnPart(sha256=hashlib.sha256(data).hexdigest(), data=data)


def decode_picture(text: str) -> DrawnPart | None:
    """Decode a picture from base64 or a data URL; None, with a warning, if it is not sound.

    An empty text is None without a warning.
    """
    if not text:
        return None
    head = _DATA.match(text)
    try:
        if head is None and ":" in text[:16]:
            raise ValueError("it is an address, and nothing is downloaded")
        encoded = text[head.end() :] if head else text
        if len(encoded) > MOST_BYTES * 4 / 3 + 4:
            raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
        try:
            data = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("it is not base64") from None
        return make_drawn(data)
    except ValueError as error:
        skip_picture(str(error))
        return None


def skip_picture(reason: str) -> None:
    """Log that a picture of a reply was not kept."""
    _LOG.warning("a picture in a reply was skipped: %s", reason)


def bound_pictures(response: Response, provider: str) -> Response:
    """Return a provider's response with the pictures that are within the limits.

    Raises ModelError if `drawn_at` does not give each picture a place in the text, in order, or if
    a picture has no bytes: then the provider has an error.
    """
    places, ends = response.drawn_at, (0, len(response.text))
    if places and (
        len(places) != len(response.drawn)
        or list(places) != sorted(places)
        or not all(ends[0] <= place <= ends[1] for place in places)
    ):
        raise ModelError(
            f"model {provider!r}: its provider returned {len(response.drawn)} pictures at the "
            f"places {list(places)[:MOST_PICTURES]} of {ends[1]} characters; give each a place, "
            "in order"
        )
    kept: list[DrawnPart] = []
    at: list[int] = []
    for part, place in zip(response.drawn, places or [ends[1]] * len(response.drawn), strict=True):
        if not isinstance(part, DrawnPart):
            raise ModelError(f"model {provider!r}: its provider returned a picture without bytes")
        try:
            if len(kept) == MOST_PICTURES:
                raise ValueError(f"only {MOST_PICTURES} are kept per reply")
            kept.append(make_drawn(part.data))
            at.append(place)
        except ValueError as error:
            skip_picture(str(error))
    return response.model_copy(
        update={"drawn": tuple(kept), "drawn_at": tuple(at) if places else ()}
    )


def redraw_picture(data: bytes) -> DrawnPart:
    """Return an untrusted picture as a new PNG, with sides of at most `SIDE` pixels.

    Raises ValueError as `decode_rgb`.
    """
    image = decode_rgb(data)
    image.thumbnail((SIDE, SIDE))
    file = io.BytesIO()
    image.save(file, "PNG")
    return make_drawn(file.getvalue())


def decode_rgb(data: bytes) -> Image.Image:
    """Decode an untrusted picture, in RGB and on white.

    Raises ValueError if it is not a picture, or has more than `MOST_PIXELS`.
    """
    with _open_bounded(data) as opened:
        return as_rgb(opened)


def as_rgb(image: Image.Image) -> Image.Image:
    """Return a picture in RGB: on white if transparent, 16 bits a channel scaled to 8."""
    from PIL import Image

    if image.mode.startswith("I;16"):
        # Pillow clips 16 bits to 8 instead of scaling them.
        image = image.point(lambda value: value / 256, "L")
    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    white = Image.new("RGBA", layer.size, "white")
    return Image.alpha_composite(white, layer).convert("RGB")


@contextmanager
def _open_bounded(data: bytes) -> Iterator[Image.Image]:
    """Open a picture; ValueError, also from reading it in the block, says what is wrong with it."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=READERS) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise ValueError(f"it has more than {MOST_PIXELS:,} pixels")
                yield image
    except (OSError, SyntaxError, EOFError, MemoryError, Image.DecompressionBombError) as error:
        raise ValueError(f"it cannot be read: {reason_of(error)}") from None
