"""Pictures in replies, from models that draw while they think.

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
from collections.abc import Iterable, Iterator

from omibench.errors import reason_of
from omibench.files.intake.picture import READERS
from omibench.models.http.pictures import media_type
from omibench.models.http.replies import Json, as_object, as_objects, as_text
from omibench.schemas.request import DrawnPart

MOST_PICTURES = 16
"""Maximum pictures kept per reply."""
MOST_BYTES = 20 * 10**6
MOST_PIXELS = 40 * 10**6
_DATA = re.compile(r"data:image/[a-z+.-]{1,20};base64,")
_LOG = logging.getLogger("omibench")


def read_chat_pictures(message: Json) -> tuple[DrawnPart, ...]:
    """Return the pictures of a chat completion: from `images` or from its content parts."""
    parts = [*as_objects(message.get("content")), *as_objects(message.get("images"))]
    return decode_pictures(_in_part(part) for part in parts)


def read_item_pictures(items: Iterable[Json]) -> tuple[DrawnPart, ...]:
    """Return the pictures in the output of the Responses API."""
    encoded = (
        as_text(item.get("result")) for item in items if item.get("type") == "image_generation_call"
    )
    return decode_pictures(encoded)


def decode_pictures(encoded: Iterable[str]) -> tuple[DrawnPart, ...]:
    """Decode pictures from base64; invalid ones are skipped with a warning."""
    pictures: list[DrawnPart] = []
    for text in filter(None, encoded):
        try:
            if len(pictures) == MOST_PICTURES:
                raise ValueError(f"only {MOST_PICTURES} are kept per reply")
            pictures.append(_decode_picture(text))
        except ValueError as error:
            _LOG.warning("a picture in a reply was skipped: %s", error)
    return tuple(pictures)


def _in_part(part: Json) -> str:
    """Return the base64 of a part in any known format; empty for other parts."""
    url = part.get("image_url")
    places: Iterator[object] = iter(
        (
            url if isinstance(url, str) else as_object(url).get("url"),
            as_object(part.get("inline_data") or part.get("inlineData")).get("data"),
            as_object(part.get("source")).get("data"),
            part.get("b64_json"),
        )
    )
    return next(filter(None, map(as_text, places)), "")


def _decode_picture(text: str) -> DrawnPart:
    head = _DATA.match(text)
    if head is None and ":" in text[:16]:
        raise ValueError("it is an address, and nothing is downloaded")
    encoded = text[head.end() :] if head else text
    if len(encoded) > MOST_BYTES * 4 / 3:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("it is not base64") from None
    if media_type(data[:12]) is None:
        raise ValueError("it is not a PNG, JPEG, GIF or WebP")
    _open(data)
    return DrawnPart(sha256=hashlib.sha256(data).hexdigest(), data=data)


def _open(data: bytes) -> None:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=READERS) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise ValueError(f"it has more than {MOST_PIXELS:,} pixels")
                image.verify()
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"it cannot be read: {reason_of(error)}") from None
