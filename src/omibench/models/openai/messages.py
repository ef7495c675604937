"""Tools in the OpenAI API: chat completions and Responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omibench.errors import ModelError
from omibench.models.api.bodies import Show
from omibench.models.api.replies import (
    MOST_CALLS,
    Json,
    as_objects,
    as_text,
    describe_tools,
    join_texts,
    move_pictures,
    parse_call,
    read_chat_calls,
)
from omibench.models.options import MOST_LISTED, is_continued, trim_end
from omibench.params.models.providers import OpenAIModel
from omibench.schemas.request import (
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    TextPart,
    ToolCall,
    ToolSpec,
)

_EXTRA = "extra_content"
"""Field with the signature of a call at Google's endpoint, which rejects a history without it."""


def add_tools(
    body: dict[str, Any], tools: Sequence[Json], extra_body: Mapping[str, Any]
) -> dict[str, Any]:
    """Add the offered tools to a body, next to those from a model's `extra_body`."""
    merged = {**body, **extra_body}
    return merged | {"tools": [*tools, *extra_body.get("tools", [])]} if tools else merged


def describe_api_tools(api: str, request: Request) -> list[dict[str, Any]]:
    """Return the tools of a conversation in the format of the API."""
    tools = request.conversation.tools
    return [_flat(tool) for tool in tools] if api == "responses" else describe_tools(tools)


def format_chat_calls(message: Message) -> dict[str, Any]:
    """Return the fields besides content of an assistant turn with calls, or of a tool result."""
    if message.answers is not None:
        return {"tool_call_id": message.answers}
    if not message.calls:
        return {}
    signed = json.loads(message.carried) if message.carried else []
    signed += [None] * len(message.calls)
    return {
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
                **({_EXTRA: extra} if extra else {}),
            }
            for call, extra in zip(message.calls, signed, strict=False)
        ]
    }


def add_chat_calls(message: Json, response: Response) -> Response:
    """Add to a response the calls of its message, and the fields that the server wants back."""
    calls = read_chat_calls(message)
    if not calls:
        return response
    signed = [call.get(_EXTRA) for call in as_objects(message.get("tool_calls"))[:MOST_CALLS]]
    carried = json.dumps(signed) if any(signed) else None
    return response.model_copy(update={"calls": calls, "carried": carried})


def list_call_items(message: Message) -> Iterator[dict[str, Any]]:
    """Return the calls of an assistant turn as items of the Responses API."""
    for call in message.calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }


def read_item_calls(items: Sequence[Json]) -> tuple[ToolCall, ...]:
    """Read the calls in the output of the Responses API."""
    called = [item for item in items if item.get("type") == "function_call"]
    return tuple(
        parse_call(as_text(item.get("call_id")) or item.get("id"), item.get("name"), arguments)
        for item in called[:MOST_CALLS]
        for arguments in [item.get("arguments")]
    )


def _flat(tool: ToolSpec) -> dict[str, Any]:
    return {"type": "function", **tool.model_dump(), "strict": False}


# Build the bodies of the OpenAI API from requests: chat completions and Responses.

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
