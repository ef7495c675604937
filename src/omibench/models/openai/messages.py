"""Build the bodies of the OpenAI API from requests: chat completions and Responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from omibench.errors import ModelError
from omibench.models.http.pictures import Show
from omibench.models.http.tool_turns import join_texts, move_pictures
from omibench.models.openai.tools import (
    add_tools,
    describe_api_tools,
    format_chat_calls,
    list_call_items,
)
from omibench.models.options import MOST_LISTED, is_continued, trim_end
from omibench.params.models.openai import OpenAIModel
from omibench.schemas.request import ImagePart, Message, Part, Request, TextPart

PATHS = {"chat": "/chat/completions", "responses": "/responses"}
MANAGED = {"model", "messages", "input", "n", "seed", "stream", "temperature", "top_p"}
"""Fields that the request determines: `extra_body` cannot set them."""


def openai_body(model: OpenAIModel, requests: Sequence[Request], show: Show) -> dict[str, Any]:
    """Build the JSON body of `requests`: samples of one conversation under one decoding.

    Several samples only if the endpoint sets `can.samples`; their indexes are consecutive.
    """
    first = requests[0]
    build = _responses if model.api == "responses" else _chat
    body = {"model": model.id, **build(model, first, show)}
    if model.can.temperature:
        body["temperature"] = first.decoding.temperature
        if first.decoding.top_p is not None:
            body["top_p"] = first.decoding.top_p
    if len(requests) > 1:
        body["n"] = len(requests)
    if model.can.seed:
        body["seed"] = first.index
    return add_tools(body, describe_api_tools(model.api, first), model.extra_body)


def check_openai(name: str, model: OpenAIModel) -> None:
    """Raise ModelError if a block declares an ability that its API lacks."""
    if model.api == "responses":
        for ability in ("samples", "seed"):
            if getattr(model.can, ability):
                raise ModelError(
                    f"model {name!r}: `can.{ability}` is set, but the Responses API has no such "
                    "parameter; remove it, or set `api: chat`"
                )
    fixed = sorted(MANAGED & set(model.extra_body))
    if fixed:
        raise ModelError(
            f"model {name!r}: `extra_body` sets {fixed[0]!r}, which the request and its setting "
            "determine; remove it"
        )


def _chat(model: OpenAIModel, request: Request, show: Show) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": [
            _message(model, m, show) for m in move_pictures(trim_end(request.conversation).messages)
        ],
        model.max_tokens_field: request.decoding.max_tokens,
    }
    if model.effort is not None:
        body["reasoning_effort"] = model.effort
    if model.can.logprobs or request.options:
        body["logprobs"] = True
    if request.options:
        body |= {"top_logprobs": MOST_LISTED, model.max_tokens_field: 1}
    if is_continued(request.conversation):
        body |= {"add_generation_prompt": False, "continue_final_message": True}
    return body


def _message(model: OpenAIModel, message: Message, show: Show) -> dict[str, Any]:
    """Build a turn; a single text is sent as a string, which every server supports."""
    turn = {"role": message.role, **format_chat_calls(message)}
    if message.role == "tool":
        return turn | {"content": join_texts(message)}
    if not message.parts:
        return turn | {"content": None}
    if len(message.parts) == 1 and isinstance(message.parts[0], TextPart):
        return turn | {"content": message.parts[0].text}
    return turn | {"content": [_chat_part(model, p, show) for p in message.parts]}


def _chat_part(model: OpenAIModel, part: Part, show: Show) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    image = {"url": _url(part, show)}
    if model.detail is not None:
        image["detail"] = model.detail
    return {"type": "image_url", "image_url": image}


def _responses(model: OpenAIModel, request: Request, show: Show) -> dict[str, Any]:
    turns = [turn for m in request.conversation.messages for turn in _items(model, m, show)]
    body: dict[str, Any] = {
        "input": turns,
        "max_output_tokens": request.decoding.max_tokens,
        "store": False,
    }
    if model.effort is not None:
        body["reasoning"] = {"effort": model.effort}
    if model.can.logprobs:
        body["include"] = ["message.output_text.logprobs"]
    return body


def _items(model: OpenAIModel, message: Message, show: Show) -> Iterator[dict[str, Any]]:
    """Build the items of a turn: its text and pictures, then its calls; or the result of a call."""
    content = [_responses_part(model, message.role, part, show) for part in message.parts]
    if message.answers is not None:
        pictured = any(isinstance(part, ImagePart) for part in message.parts)
        output = content if pictured else join_texts(message)
        yield {"type": "function_call_output", "call_id": message.answers, "output": output}
        return
    if content:
        yield {"role": message.role, "content": content}
    yield from list_call_items(message)


def _responses_part(model: OpenAIModel, role: str, part: Part, show: Show) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "output_text" if role == "assistant" else "input_text", "text": part.text}
    return {
        "type": "input_image",
        "image_url": _url(part, show),
        "detail": model.detail or "auto",
    }


def _url(part: Any, show: Show) -> str:
    picture = show(part)
    return f"data:{picture.media_type};base64,{picture.data}"
