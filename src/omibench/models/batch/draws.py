"""Content hashes of the requests in a batch line, by which a later process recognises it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from omibench.errors import ImageCountError
from omibench.models.http.pictures import PictureCache, PicturePayload, Show
from omibench.schemas.request import Conversation, ImagePart, Request

_DIGITS = 40
"""Hex digits of a draw; with a dash and the 8 of a submission they fit Anthropic's limit of 64."""


def name_draw(identity: Mapping[str, Any], request: Request) -> str:
    """Return forty hex digits that identify a draw: equal for the same sample of the same request.

    They depend on the same content as the key of the store: paths, tags and the number of samples
    do not count. The store's key itself is not used, since its format can change while a batch is
    running.
    """
    messages = [
        [
            message.role,
            [p.content_key if isinstance(p, ImagePart) else [p.text] for p in message.parts],
        ]
        for message in request.conversation.messages
    ]
    decoding = request.decoding
    form = [
        dict(identity),
        messages,
        decoding.temperature,
        decoding.max_tokens,
        decoding.top_p,
        request.index,
    ]
    if extra := _tools(request.conversation):  # omitted if empty: these names must never change
        form.append(extra)
    text = json.dumps(form, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _tools(conversation: Conversation) -> list[Any]:
    """Return the tools on offer and the calls and results of the turns; usually empty."""
    offered = [tool.model_dump() for tool in conversation.tools]
    turns = [
        [n, [call.model_dump() for call in m.calls], m.answers, m.carried]
        for n, m in enumerate(conversation.messages)
        if m.calls or m.answers is not None or m.carried is not None
    ]
    return [offered, turns] if offered or turns else []


def whole_body(
    build: Callable[[Show], dict[str, Any]], request: Request, pictures: PictureCache
) -> dict[str, Any]:
    """Build the body of a request with its pictures as base64.

    Raises ImageCountError if the body has other pictures than the conversation, by number or order.
    """
    parts: list[ImagePart] = []

    def show(image: ImagePart) -> PicturePayload:
        parts.append(image)
        return pictures.inline(image)

    body = build(show)
    if parts != request.conversation.images:
        raise ImageCountError(
            f"problem {request.tags.problem!r}: the conversation has "
            f"{len(request.conversation.images)} images and the line of the batch {len(parts)}, "
            "or their order differs; nothing was sent. This is a bug in omibench"
        )
    return body
