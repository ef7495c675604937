"""Build the bodies of the Anthropic messages API from requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from omibench.errors import ModelError
from omibench.models.anthropic.tools import (
    list_call_blocks,
    list_signed_blocks,
    make_result_block,
    tool_fields,
)
from omibench.models.http.pictures import Show
from omibench.params.models.anthropic import AnthropicModel
from omibench.schemas.request import ImagePart, Message, Part, Request, TextPart

PATH = "/v1/messages"


def anthropic_body(model: AnthropicModel, request: Request, show: Show) -> dict[str, Any]:
    """Build the JSON body that requests one sample.

    Raises ModelError if the thinking budget leaves no tokens for the answer, or if the conversation
    has system turns that this API does not support.
    """
    system, turns = _split(request)
    body: dict[str, Any] = {
        "model": model.id,
        "max_tokens": request.decoding.max_tokens,
        "messages": list(_turns(turns, show)),
        **tool_fields(request.conversation),
    }
    if system:
        body["system"] = "\n\n".join(system)
    if model.thinking is not None:
        body["thinking"] = _thinking(model.thinking, request)
    if model.effort is not None:
        body["output_config"] = {"effort": model.effort}
    return body


def check_anthropic(name: str, model: AnthropicModel) -> None:
    """Raise ModelError if a block declares an ability that the messages API lacks."""
    for ability in ("samples", "seed", "logprobs"):
        if getattr(model.can, ability):
            raise ModelError(
                f"model {name!r}: `can.{ability}` is set, but the Anthropic API has no such "
                "parameter; remove it (k samples are sent as k requests)"
            )


def check_anthropic_request(model: AnthropicModel, request: Request) -> None:
    """Raise ModelError for requests that this API does not support, before anything is sent."""
    _split(request)
    if isinstance(model.thinking, int):
        _thinking(model.thinking, request)


def _thinking(thinking: str | int, request: Request) -> dict[str, Any]:
    if isinstance(thinking, str):
        return {"type": thinking}
    if thinking >= request.decoding.max_tokens:
        raise ModelError(
            f"setting {request.tags.setting!r}: max_tokens is {request.decoding.max_tokens} and "
            f"the thinking budget is {thinking} tokens, which leaves none for the answer; raise "
            "`decoding.max_tokens` or lower `thinking`"
        )
    return {"type": "enabled", "budget_tokens": thinking}


def _split(request: Request) -> tuple[list[str], list[Message]]:
    """Split off the texts of the system turns, which this API takes in a separate field."""
    messages = request.conversation.messages
    turns = [message for message in messages if message.role != "system"]
    system = messages[: len(messages) - len(turns)]
    if any(m.role != "system" or any(isinstance(p, ImagePart) for p in m.parts) for m in system):
        raise ModelError(
            f"problem {request.tags.problem!r}: the Anthropic API accepts system text only at the "
            "start and without pictures; change the setting"
        )
    texts = [p.text for m in system for p in m.parts if isinstance(p, TextPart) and p.text.strip()]
    return texts, turns


def _turns(messages: list[Message], show: Show) -> Iterator[dict[str, Any]]:
    """Return the turns; neighbouring tool results are merged into one user turn."""
    waiting: list[dict[str, Any]] = []
    for message in messages:
        if message.answers is not None:
            waiting.append(make_result_block(message.answers, _parts(message, show)))
            continue
        if message.role == "user":
            yield {"role": "user", "content": [*waiting, *_parts(message, show)]}
            waiting = []
            continue
        if waiting:
            yield {"role": "user", "content": waiting}
            waiting = []
        content = [*list_signed_blocks(message), *_parts(message, show), *list_call_blocks(message)]
        yield {"role": message.role, "content": content}
    if waiting:
        yield {"role": "user", "content": waiting}


def _parts(message: Message, show: Show) -> list[dict[str, Any]]:
    """Return the parts of a turn without blank texts, which this API rejects."""
    parts = [p for p in message.parts if isinstance(p, ImagePart) or p.text.strip()]
    return [_part(part, show) for part in parts]


def _part(part: Part, show: Show) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    picture = show(part)
    source = {"type": "base64", "media_type": picture.media_type, "data": picture.data}
    return {"type": "image", "source": source}
