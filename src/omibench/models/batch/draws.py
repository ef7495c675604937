"""What a line of a batch asks for, by content, so that a later process knows it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from omibench.errors import ImageCountError
from omibench.models.http.pictures import PictureCache, PicturePayload, Show
from omibench.schemas.request import Conversation, ImagePart, Request

_DIGITS = 40
"""Digits of a draw; with a dash and the eight of a submission they fit Anthropic's 64."""


def name_draw(identity: Mapping[str, Any], request: Request) -> str:
    """Forty hex digits that name one draw: equal for the same sample of the same question.

    What the store keys a response by, no more and no less: paths, tags and the number of samples
    are left out. The store's key is not used, since its form may change while a batch is out.
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
    if extra := _tools(request.conversation):  # left out where there are none: names are for ever
        form.append(extra)
    text = json.dumps(form, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _tools(conversation: Conversation) -> list[Any]:
    """The tools on offer, and what turns have called and answered; mostly nothing."""
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
    """The body that `build` makes of a request, with the base64 of its pictures in place.

    Raises ImageCountError when it shows other pictures than the conversation, in number or order.
    """
    parts: list[ImagePart] = []

    def show(image: ImagePart) -> PicturePayload:
        parts.append(image)
        return pictures.inline(image)

    body = build(show)
    if parts != request.conversation.images:
        raise ImageCountError(
            f"problem {request.tags.problem!r}: the conversation has "
            f"{len(request.conversation.images)} images and the line of the batch {len(parts)}, or "
            "another order; nothing was sent: this is a defect"
        )
    return body
