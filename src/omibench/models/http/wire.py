"""A JSON body with pictures inserted while it is sent, so that none waits in memory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from secrets import token_hex
from typing import Any

from omibench.errors import ImageCountError
from omibench.models.http.pictures import PictureCache, PicturePayload, Show
from omibench.schemas.request import ImagePart, Request

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


def wire_body(
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
