"""The content key of a request: what a model can see of it, and nothing else.

Keys are for ever. A key is a SHA-256 over the canonical JSON of a form; `FORMS` holds the form of
every schema that was ever used, and lines of the store say under which one they were written. A
change of form is a new entry and a new `KEY_SCHEMA`: an old form is never edited, a test pins the
keys that it gives, and a partition goes on finding its old lines by it (`Partition.key`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from omibench.request import Conversation, Decoding, Request, TextPart

KEY_SCHEMA = 1
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)

Form = Callable[[Mapping[str, Any], Mapping[str, Any], Sequence[str]], dict[str, Any]]
"""(identity, `asked_of` a request, [role, problem, setting]) -> the value that is hashed."""


def canonical(value: object) -> bytes:
    """One spelling of a JSON value: sorted keys, no spaces, ASCII. Raises ValueError on NaN."""
    return _ENCODER.encode(value).encode("ascii")


def form_1(
    identity: Mapping[str, Any], asked: Mapping[str, Any], tags: Sequence[str]
) -> dict[str, Any]:
    """Schema 1: the schema, model, messages, decoding and sample index."""
    body: dict[str, Any] = {"schema": 1, "model": identity, **asked}
    if identity.get("reads_tags"):
        body["tags"] = list(tags)
    return body


FORMS: dict[int, Form] = {1: form_1}


def request_key(identity: Mapping[str, Any], request: Request, schema: int | None = None) -> str:
    """SHA-256 (64 hex digits) of a request to a model, under `schema` (default: the newest).

    Image paths, tags and the number of samples are left out, so moved files, another study and a
    larger k find what was bought. Only an identity with `reads_tags`, that of a model which
    answers by problem and setting rather than by what it is shown, brings these two in: a key
    holds everything that its answer depends on.
    """
    tags = request.tags
    names = (tags.role, tags.problem, tags.setting)
    return stored_key(identity, asked_of(request), names, schema or KEY_SCHEMA)


def stored_key(
    identity: Mapping[str, Any], asked: Mapping[str, Any], tags: Sequence[str], schema: int
) -> str:
    """The key of a request as a line of the store holds it. Raises KeyError on an unknown schema.

    `tags` are role, problem and setting.
    """
    return hashlib.sha256(canonical(FORMS[schema](identity, asked, tags))).hexdigest()


def asked_of(request: Request) -> dict[str, Any]:
    """What was asked, as plain values: the part of a request that a line of the store keeps."""
    return {
        "messages": messages_of(request.conversation),
        "decoding": decoding_of(request.decoding),
        "index": request.index,
    }


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
