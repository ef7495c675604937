"""The bytes of pictures on their way to an endpoint: checked, and encoded once for all requests."""

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

try:  # encoding was a quarter of the time that sending takes; this is 2.6 times as quick
    from pybase64 import b64encode
except ImportError:  # without the extra `api`
    from base64 import b64encode  # type: ignore[assignment]

MEGABYTE = 1e6
CACHE_BYTES = 64 * 2**20
_FORMS = ("png", "jpeg", "gif", "webp")
"""The forms that the APIs take."""


class PicturePayload(NamedTuple):
    """A picture as a body shows it: its media type, and its base64 or what stands for that."""

    media_type: str
    data: str


Show = Callable[[ImagePart], PicturePayload]
"""How a body comes by its pictures: encoded in place, or a mark that is filled in when sent."""


def media_type(head: bytes) -> str | None:
    """The media type that the first 12 bytes of a picture tell; None for one no API takes."""
    form = detect_form(head)
    return f"image/{form}" if form in _FORMS else None


class PictureCache:
    """Base64 of pictures by their SHA-256, the latest used `cache_bytes` of it kept in memory."""

    def __init__(self, cache_bytes: int = CACHE_BYTES) -> None:
        self._room = cache_bytes
        self._held = 0
        self._encoded: OrderedDict[str, bytes] = OrderedDict()
        self._facts: dict[str, tuple[str, int]] = {}

    def check(self, requests: Iterable[Request], most_mb: float | None) -> None:
        """Check each distinct picture's form, and its size against `most_mb` (10^6 bytes).

        Raises MissingInputError or ModelError with the problem, the file and the remedy.
        """
        for request in requests:
            for image in request.conversation.images:
                if image.content_key in self._facts:
                    continue
                _, size = self._read_facts(image)
                if most_mb is not None and size > most_mb * MEGABYTE:
                    del self._facts[image.content_key]
                    raise ModelError(
                        f"problem {request.tags.problem!r}: {image.path} has {size / MEGABYTE:.2f} "
                        f"MB and the model takes {most_mb:g} MB an image (`can.image_mb`); "
                        "nothing is ever scaled down unasked: make the picture smaller"
                    )

    def media_type(self, image: ImagePart) -> str:
        """As the first bytes tell; a picture under a patch is a PNG. Raises as `encode`."""
        return self._read_facts(image)[0]

    def size(self, image: ImagePart) -> int:
        """Bytes of its file, or of the PNG that shows it under a patch. Raises as `encode`."""
        return self._read_facts(image)[1]

    def encode(self, image: ImagePart) -> bytes:
        """The base64 of its bytes. Raises MissingInputError, or ModelError for other bytes."""
        cached = self._encoded.get(image.content_key)
        if cached is not None:
            self._encoded.move_to_end(image.content_key)
            return cached
        data = _read(image)
        if hashlib.sha256(data).hexdigest() != image.sha256:
            raise ModelError(
                f"{image.path}: its content is not that of the dataset ({image.sha256[:12]}): "
                "restore the file or freeze the dataset again"
            )
        encoded = b64encode(_draw_patch(image) if image.patch else data)
        self._encoded[image.content_key] = encoded
        self._held += len(encoded)
        while self._held > self._room:
            self._held -= len(self._encoded.popitem(last=False)[1])
        return encoded

    def inline(self, image: ImagePart) -> PicturePayload:
        """The picture with its base64 in place: a `Show`."""
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
                    f"{image.path}: is no PNG, JPEG, GIF or WebP, which is what providers take; "
                    "convert the picture"
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
    return MissingInputError(f"image {image.sha256[:12]}: cannot be read: it has no file")
