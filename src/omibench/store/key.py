"""The content key of a request: everything that a model can see of it, and nothing else.

Keys never change. A key is a SHA-256 over the canonical JSON of a form; `FORMS` contains the form
of every schema ever used, and lines of the store record theirs. A changed form is a new entry and a
new `KEY_SCHEMA`: an old form is never edited, a test pins its keys, and a partition finds its old
lines by it (`Partition.key`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from omibench.schemas.request import (
    Conversation,
    Decoding,
    ImagePart,
    Part,
    Request,
    Tags,
    TextPart,
)

KEY_SCHEMA = 1
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)

Form = Callable[[str, bool, Request], str]
"""(canonical identity, whether it reads tags, request) -> the text to hash."""


def canonical(value: object) -> bytes:
    """Return canonical JSON: sorted keys, no spaces, ASCII. Raises ValueError on NaN."""
    return _ENCODER.encode(value).encode("ascii")


def form_1(identity: str, reads_tags: bool, request: Request) -> str:
    """Return schema 1: canonical JSON of decoding, index, messages, model, schema and perhaps tags.

    Later additions (`dump_extras`) are omitted if a request has none, so no key has changed. The
    JSON is formatted manually, since tens of thousands of keys are computed per cell.
    """
    decoding = request.decoding
    top_p = "" if decoding.top_p is None else f',"top_p":{_number(decoding.top_p)}'
    messages = ",".join(
        [
            f'{{"parts":[{",".join([_part_1(part) for part in message.parts])}],'
            f'"role":{quoted(message.role)}}}'
            for message in request.conversation.messages
        ]
    )
    ending = f',"tags":[{_tags_1(request.tags)}]}}' if reads_tags else "}"
    extras = dump_extras(request)
    extras_json = f",{canonical(extras).decode('ascii')[1:-1]}" if extras else ""
    return (
        f'{{"decoding":{{"max_tokens":{decoding.max_tokens},'
        f'"temperature":{_number(decoding.temperature)}{top_p}}},"index":{request.index},'
        f'"messages":[{messages}],"model":{identity},"schema":1{extras_json}{ending}'
    )


def dump_extras(request: Request) -> dict[str, Any]:
    """Return options to score, tools and the turns that call them as plain values; usually empty.

    `turns` maps the position of a message to the calls that it made or the call that it answers,
    and the fields that its provider wants back with it.
    """
    extras: dict[str, Any] = {}
    if request.options:
        extras["options"] = list(request.options)
    if request.conversation.tools:
        extras["tools"] = [tool.model_dump() for tool in request.conversation.tools]
    turns = {
        str(position): {
            "calls": [call.model_dump() for call in message.calls],
            "answers": message.answers,
            **({} if message.carried is None else {"carried": message.carried}),
        }
        for position, message in enumerate(request.conversation.messages)
        if message.calls or message.answers is not None or message.carried is not None
    }
    return extras | ({"turns": turns} if turns else {})


def _part_1(part: Part) -> str:
    if isinstance(part, TextPart):
        return f'{{"text":{quoted(part.text)}}}'
    patch = f',"patch":{json.dumps(part.patch)}' if part.patch else ""
    return f'{{"image":{quoted(part.sha256)}{patch}}}'


def _tags_1(tags: Tags) -> str:
    return ",".join(map(quoted, (tags.role, tags.problem, tags.setting)))


def _number(value: float) -> str:
    return float.__repr__(value) if isinstance(value, float) else str(value)


FORMS: dict[int, Form] = {1: form_1}


class Keys:
    """Computes the keys of requests to one model."""

    def __init__(self, identity: Mapping[str, Any]) -> None:
        self._identity = canonical(identity).decode("ascii")
        self._reads_tags = bool(identity.get("reads_tags"))

    def key(self, request: Request, schema: int | None = None) -> str:
        """Return the SHA-256 (64 hex digits) of a request under `schema` (default: the newest).

        Image paths, tags and the number of samples do not count, so moved files, another study and
        a larger k find the stored responses. Only an identity with `reads_tags`, that of a model
        which answers by problem and setting instead of by content, includes these two: a key covers
        everything that an answer depends on. Raises KeyError for an unknown schema.
        """
        text = FORMS[schema or KEY_SCHEMA](self._identity, self._reads_tags, request)
        return hashlib.sha256(text.encode("ascii")).hexdigest()


def request_key(identity: Mapping[str, Any], request: Request, schema: int | None = None) -> str:
    """Return the key of one request to the model with this identity; see `Keys.key`."""
    return Keys(identity).key(request, schema)


def dump_request(request: Request) -> dict[str, Any]:
    """Return the request as plain values: its part of a line of the store."""
    return dump_extras(request) | {
        "messages": dump_messages(request.conversation),
        "decoding": dump_decoding(request.decoding),
        "index": request.index,
    }


def dump_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """Return the conversation as plain values, with images by the SHA-256 of their bytes."""
    return [
        {
            "role": message.role,
            "parts": [
                {"text": part.text} if isinstance(part, TextPart) else _dump_image(part)
                for part in message.parts
            ],
        }
        for message in conversation.messages
    ]


def _dump_image(image: ImagePart) -> dict[str, Any]:
    return {"image": image.sha256} | ({"patch": list(image.patch)} if image.patch else {})


def dump_decoding(decoding: Decoding) -> dict[str, Any]:
    """Return the decoding as plain values, without unset ones and without `samples`."""
    values = {
        "temperature": decoding.temperature,
        "max_tokens": decoding.max_tokens,
        "top_p": decoding.top_p,
    }
    return {name: value for name, value in values.items() if value is not None}


def parse_request(values: Mapping[str, Any], tags: Mapping[str, Any]) -> Request:
    """Parse the output of `dump_request`. Raises ValueError (pydantic's) if it is invalid."""
    turns = values.get("turns", {})
    messages = [
        {
            **turns.get(str(position), {}),
            "role": message["role"],
            "parts": [
                {"kind": "text", "text": part["text"]}
                if "text" in part
                else {"kind": "image", "sha256": part["image"], "patch": part.get("patch")}
                for part in message["parts"]
            ],
        }
        for position, message in enumerate(values["messages"])
    ]
    return Request.model_validate(
        {
            "conversation": {"messages": messages, "tools": values.get("tools", [])},
            "options": values.get("options", []),
            "decoding": values["decoding"],
            "index": values["index"],
            "tags": tags,
        }
    )
