"""The bytes of pictures to send: checked, and encoded once for all requests."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from omibench.errors import ImageCountError, MissingInputError, ModelError
from omibench.files.pictures import detect_form
from omibench.files.reading import open_regular, read_bytes
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
        """Return its bytes as base64. Raises as `read`."""
        cached = self._encoded.get(image.content_key)
        if cached is not None:
            self._encoded.move_to_end(image.content_key)
            return cached
        encoded = b64encode(self.read(image))
        self._encoded[image.content_key] = encoded
        self._held += len(encoded)
        while self._held > self._room:
            self._held -= len(self._encoded.popitem(last=False)[1])
        return encoded

    def read(self, image: ImagePart) -> bytes:
        """Return the bytes to send. Raises MissingInputError, or ModelError if they changed."""
        data = _read(image)
        if hashlib.sha256(data).hexdigest() != image.sha256:
            raise ModelError(
                f"{image.path}: its content differs from the dataset ({image.sha256[:12]}); "
                "restore the file or freeze the dataset again"
            )
        return _draw_patch(image) if image.patch else data

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

    from omibench.models.local.prompts import decode

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


# A JSON body with pictures inserted while it is sent, so that none waits in memory.

_PIECE = 1 << 18
"""Bytes of text per piece."""
_MARK = f"<{token_hex(16)}>"
"""Placeholder of a picture. It is random per process, so no text of a conversation contains it."""


class RequestBody:
    """The bytes of one request, generated while it is sent; it can be sent again.

    Otherwise 256 requests in flight with three pictures of 300 kB each would take 300 MB.
    """

    def __init__(self, texts: Sequence[bytes], images: Sequence[ImagePart], pictures: PictureCache):
        self._texts, self._images, self._pictures = texts, images, pictures
        encoded = sum(4 * ((pictures.size(image) + 2) // 3) for image in images)
        self.length = sum(map(len, texts)) + encoded
        self.left = False
        """Whether the last bytes may have been sent: before that, the request is neither
        answered nor billed."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces():
            yield piece

    def read(self) -> bytes:
        """Return all bytes at once."""
        return b"".join(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        for text, image in zip(self._texts, self._images, strict=False):
            yield text
            yield self._pictures.encode(image)
        last = self._texts[-1]
        tail_start = max(0, len(last) - 1) // _PIECE * _PIECE
        for start in range(0, tail_start, _PIECE):
            yield last[start : start + _PIECE]
        self.left = True
        yield last[tail_start:]

    @property
    def headers(self) -> dict[str, str]:
        """Length and type, known before sending."""
        return {"content-type": "application/json", "content-length": str(self.length)}


def assemble_body(
    build: Callable[[Show], dict[str, Any]], request: Request, pictures: PictureCache
) -> RequestBody:
    """Build the body of a request, with its pictures still in their files.

    Raises ImageCountError if the body shows other pictures than the conversation, by number or
    order.
    """
    parts: list[ImagePart] = []

    def show(image: ImagePart) -> PicturePayload:
        parts.append(image)
        return PicturePayload(pictures.media_type(image), f"{_MARK}{len(parts) - 1}{_MARK}")

    text = json.dumps(build(show), separators=(",", ":"))
    pieces = text.split(_MARK)
    meant = request.conversation.images
    sent = [parts[int(number)] for number in pieces[1::2]]
    if sent != meant:
        raise ImageCountError(
            f"problem {request.tags.problem!r}: the conversation has {len(meant)} images and the "
            f"body {len(sent)}, or their order differs; nothing was sent. This is a bug in "
            "omibench"
        )
    return RequestBody([piece.encode() for piece in pieces[::2]], sent, pictures)
