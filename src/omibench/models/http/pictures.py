"""The bytes of pictures to send: checked, and encoded once for all requests."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from omibench.errors import MissingInputError, ModelError
from omibench.files.intake import open_regular, read_bytes
from omibench.files.picture_forms import detect_form
from omibench.schemas.request import ImagePart, Request

try:  # 2.6 times as fast; encoding took a quarter of the sending time
    from pybase64 import b64encode
except ImportError:  # without the extra `api`
    from base64 import b64encode  # type: ignore[assignment]

MEGABYTE = 1e6
CACHE_BYTES = 64 * 2**20
_FORMS = ("png", "jpeg", "gif", "webp")
"""Picture formats that the APIs accept."""


class PicturePayload(NamedTuple):
    """A picture in a body: its media type, and its base64 or a placeholder."""

    media_type: str
    data: str


Show = Callable[[ImagePart], PicturePayload]
"""How a body gets its pictures: encoded in place, or as a mark that is replaced when sent."""


def media_type(head: bytes) -> str | None:
    """Return the media type by the first 12 bytes of a picture; None if no API accepts it."""
    form = detect_form(head)
    return f"image/{form}" if form in _FORMS else None


class PictureCache:
    """Base64 of pictures by SHA-256; the most recent `cache_bytes` stay in memory."""

    def __init__(self, cache_bytes: int = CACHE_BYTES) -> None:
        self._room = cache_bytes
        self._held = 0
        self._encoded: OrderedDict[str, bytes] = OrderedDict()
        self._facts: dict[str, tuple[str, int]] = {}

    def check(self, requests: Iterable[Request], most_mb: float | None) -> None:
        """Check the format of each distinct picture, and its size against `most_mb` (10^6 bytes).

        Raises MissingInputError or ModelError with the problem, the file and a remedy.
        """
        for request in requests:
            for image in request.conversation.images:
                if image.content_key in self._facts:
                    continue
                _, size = self._read_facts(image)
                if most_mb is not None and size > most_mb * MEGABYTE:
                    del self._facts[image.content_key]
                    raise ModelError(
                        f"problem {request.tags.problem!r}: {image.path} has "
                        f"{size / MEGABYTE:.2f} MB, but the model accepts {most_mb:g} MB per "
                        "image (`can.image_mb`); pictures are never scaled down automatically, "
                        "so make it smaller"
                    )

    def media_type(self, image: ImagePart) -> str:
        """Return its media type by its first bytes; PNG if it has a patch. Raises as `encode`."""
        return self._read_facts(image)[0]

    def size(self, image: ImagePart) -> int:
        """Return the bytes of its file, or of the PNG with its patch. Raises as `encode`."""
        return self._read_facts(image)[1]

    def encode(self, image: ImagePart) -> bytes:
        """Return its bytes as base64. Raises MissingInputError, or ModelError if they changed."""
        cached = self._encoded.get(image.content_key)
        if cached is not None:
            self._encoded.move_to_end(image.content_key)
            return cached
        data = _read(image)
        if hashlib.sha256(data).hexdigest() != image.sha256:
            raise ModelError(
                f"{image.path}: its content differs from the dataset ({image.sha256[:12]}); "
                "restore the file or freeze the dataset again"
            )
        encoded = b64encode(_draw_patch(image) if image.patch else data)
        self._encoded[image.content_key] = encoded
        self._held += len(encoded)
        while self._held > self._room:
            self._held -= len(self._encoded.popitem(last=False)[1])
        return encoded

    def inline(self, image: ImagePart) -> PicturePayload:
        """Return the picture with its base64 in place: a `Show`."""
        return PicturePayload(self.media_type(image), self.encode(image).decode("ascii"))

    def _read_facts(self, image: ImagePart) -> tuple[str, int]:
        facts = self._facts.get(image.content_key)
        if facts is None and image.patch:
            facts = self._facts[image.content_key] = ("image/png", len(_draw_patch(image)))
        elif facts is None:
            head, size = _head(image)
            kind = media_type(head)
            if kind is None:
                raise ModelError(
                    f"{image.path}: is not a PNG, JPEG, GIF or WebP, the formats that providers "
                    "accept; convert the picture"
                )
            facts = self._facts[image.content_key] = (kind, size)
        return facts


def _draw_patch(image: ImagePart) -> bytes:
    from io import BytesIO

    from omibench.models.local.images import decode

    written = BytesIO()
    decode(image).save(written, "PNG")
    return written.getvalue()


def _head(image: ImagePart) -> tuple[bytes, int]:
    path = Path(image.path)
    try:
        with open_regular(path) as file:
            return file.read(12), file.seek(0, 2)
    except MissingInputError:
        if image.path:
            raise
        raise _missing(image) from None


def _read(image: ImagePart) -> bytes:
    if not image.path:
        raise _missing(image)
    return read_bytes(image.path)


def _missing(image: ImagePart) -> MissingInputError:
    return MissingInputError(f"image {image.sha256[:12]}: cannot be read, it has no file")
