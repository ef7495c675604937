"""The content key of a request: what a model can see of it, and nothing else.

Keys are for ever: `KEY_SCHEMA` counts up when the canonical form must change, and a test pins the
keys of known requests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from omibench.request import Conversation, Decoding, Request, TextPart

KEY_SCHEMA = 1
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(value: object) -> bytes:
    """One spelling of a JSON value: sorted keys, no spaces, ASCII. Raises ValueError on NaN."""
    return _ENCODER.encode(value).encode("ascii")


def request_key(identity: Mapping[str, Any], request: Request) -> str:
    """SHA-256 (64 hex digits) over schema, model, messages, decoding and sample index.

    Image paths, tags and the number of samples are left out, so moved files, another study and a
    larger k find what was bought. Only an identity with `reads_tags`, that of a model which
    answers by problem and setting rather than by what it is shown, brings these two in: a key
    holds everything that its answer depends on.
    """
    body: dict[str, Any] = {
        "schema": KEY_SCHEMA,
        "model": identity,
        "messages": messages_of(request.conversation),
        "decoding": decoding_of(request.decoding),
        "index": request.index,
    }
    if identity.get("reads_tags"):
        body["tags"] = [request.tags.role, request.tags.problem, request.tags.setting]
    return hashlib.sha256(canonical(body)).hexdigest()


def messages_of(conversation: Conversation) -> list[dict[str, Any]]:
    """The conversation as plain values, images by the SHA-256 of their bytes."""
    return [
        {
            "role": message.role,
            "parts": [
                {"text": part.text} if isinstance(part, TextPart) else {"image": part.sha256}
                for part in message.parts
            ],
        }
        for message in conversation.messages
    ]


def decoding_of(decoding: Decoding) -> dict[str, Any]:
    """The decoding as plain values; what is not set is left out, `samples` always."""
    values = {
        "temperature": decoding.temperature,
        "max_tokens": decoding.max_tokens,
        "top_p": decoding.top_p,
    }
    return {name: value for name, value in values.items() if value is not None}
