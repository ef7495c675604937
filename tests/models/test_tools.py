"""Tools at every API: a loop against a server that holds histories to the API's rules."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.asks import answers, say, talk
from tests.models.apis import every_api, picture, provider, read, write_body

from model_server.handle import ServerHandle
from omibench.models.drawn import decode_picture
from omibench.schemas.request import (
    DrawnPart,
    ImagePart,
    Message,
    Request,
    Response,
    ToolCall,
    ToolSpec,
)

LOOK = ToolSpec(
    name="look", description="Look again.", parameters={"type": "object", "properties": {}}
)
CALLS = [{"name": "look", "arguments": {"image": "image_1"}}, {"name": "look", "arguments": {}}]


def url(size: tuple[int, int] = (3, 2), form: str = "PNG", mode: str = "RGB") -> str:
    buffer = io.BytesIO()
    Image.new(mode, size).save(buffer, form)
    data = base64.b64encode(buffer.getvalue()).decode()
    return f"data:image/{form.lower()};base64,{data}"


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    replies = {
        "Twice": {"text": "\\boxed{7}", "calls": CALLS, "rounds": 2, "says": "Closer.",
                  "reasoning": "Hm."},
        "Silent": {"text": "\\boxed{8}", "calls": CALLS[:1]},
        "Draw": {"text": "Drawn.", "images": [url(), "data:image/png;base64,AAAA"]},
    }  # fmt: skip
    return {"replies": replies}


def request(*messages: Message, tools: tuple[ToolSpec, ...] = (LOOK,), **decoding: Any) -> Request:
    return talk(*messages, tools=tools, **decoding)


def answered(response: Response, image: ImagePart) -> list[Message]:
    """The assistant's turn and one with a picture for each of its calls."""
    words = [response.text] if response.text else []
    calls, carried = response.calls, response.carried
    own = [say("tool", f"picture {n}", image, answers=c.id) for n, c in enumerate(calls, 1)]
    return [say("assistant", *words, calls=calls, carried=carried), *own]


@every_api
def test_calls_without_words_are_an_answer(server: ServerHandle, api: str) -> None:
    (response,) = answers(provider(server, api), request(say("user", f"Silent {api}")))
    assert (response.outcome, response.text, len(response.calls)) == ("answered", "", 1)


def test_signed_thinking_goes_back_with_the_calls_that_it_led_to(
    server: ServerHandle, tmp_path: Path
) -> None:
    image = picture(tmp_path, "i.png")
    asked = provider(server, "messages", thinking=1024)
    start = say("user", "Twice and think", image)
    (response,) = answers(asked, request(start))
    assert response.carried is not None
    assert json.loads(response.carried)[0]["thinking"] == "Hm."
    (after,) = answers(asked, request(start, *answered(response, image)))
    assert after.calls
    unsigned = answered(response.model_copy(update={"carried": None}), image)
    (refused,) = answers(asked, request(start, *unsigned))
    assert refused.outcome == "provider_error"


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_pictures_that_a_model_draws_are_checked_and_kept(
    server: ServerHandle, api: str, caplog: Any
) -> None:
    with caplog.at_level(logging.WARNING, logger="omibench"):
        (response,) = answers(provider(server, api), request(say("user", f"Draw {api}"), tools=()))
    (drawn,) = response.drawn
    assert isinstance(drawn, DrawnPart)
    assert drawn.sha256 == hashlib.sha256(drawn.data).hexdigest()
    assert "a picture in a reply was skipped" in caplog.text
    assert "data" not in response.model_dump(mode="json")["drawn"][0]
    assert response.text == "Drawn."


def test_pictures_come_in_several_forms() -> None:
    data = url().partition(",")[2]
    message = {
        "content": [
            {"type": "text", "text": "see"},
            {"type": "image_url", "image_url": {"url": url()}},
            {"type": "image_url", "image_url": url()},
            {"inline_data": {"mime_type": "image/png", "data": data}},
            {"inlineData": {"mimeType": "image/png", "data": data}},
            {"type": "image", "source": {"type": "base64", "data": data}},
            {"type": "output_image", "b64_json": data},
        ],
        "images": [{"type": "image_url", "image_url": {"url": url(form="JPEG")}}],
    }
    (response,) = read("chat", {"choices": [{"message": message}]})
    assert len(response.drawn) == 7
    assert len({drawn.sha256 for drawn in response.drawn}) == 2


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("https://example.org/a.png", "it is an address, and nothing is downloaded"),
        ("file:///etc/passwd", "it is an address, and nothing is downloaded"),
        ("data:image/svg+xml;base64,PHN2Zz4=", "it is not a PNG, JPEG, GIF or WebP"),
        ("data:image/png;base64,%%%", "it is not base64"),
        (base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode(), "it cannot be read"),
        (lambda: url((8000, 5001), mode="1"), "it has more than 40,000,000 pixels"),
        (lambda: "A" * 27_000_000, "it has more than 20,000,000 bytes"),
    ],
)
def test_what_is_no_sound_picture_is_left_out(
    given: str | Callable[[], str], why: str, caplog: Any
) -> None:
    with caplog.at_level(logging.WARNING, logger="omibench"):
        assert decode_picture(given if isinstance(given, str) else given()) is None
    assert why in caplog.text


# Bodies and replies by hand: what the server cannot show.


PICTURE = ImagePart(sha256="a")
HISTORY = (
    say("user", "Look."),
    say("assistant", calls=(ToolCall(id="c1", name="look", arguments='{"a": 1}'),)),
    say("tool", "one", PICTURE, answers="c1"),
    say("user", "Now answer."),
)


def test_tools_stand_beside_those_of_the_models_block() -> None:
    block = {"extra_body": {"tools": [{"type": "image_generation"}]}}
    body = write_body("responses", request(*HISTORY), **block)
    assert [tool["type"] for tool in body["tools"]] == ["function", "image_generation"]
    bare = write_body("responses", request(say("user", "x"), tools=()), **block)
    assert [tool["type"] for tool in bare["tools"]] == ["image_generation"]


def test_claude_is_told_of_called_tools_that_may_not_be_called_any_more() -> None:
    body = write_body("messages", request(*HISTORY, tools=()))
    assert body["tools"] == [{"name": "look", "input_schema": {"type": "object"}}]
    assert body["tool_choice"] == {"type": "none"}
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
    assert [b["type"] for b in body["messages"][2]["content"]] == ["tool_result", "text"]
    bare = write_body("messages", request(say("user", "x"), tools=()))
    assert "tools" not in bare


def test_a_signature_that_google_puts_on_a_call_goes_back() -> None:
    signature = {"google": {"thought_signature": "xyz"}}
    call = {"id": "c1", "function": {"name": "look", "arguments": {"a": 1}}}
    message = {"content": None, "tool_calls": [{**call, "extra_content": signature}, call]}
    (response,) = read("chat", {"choices": [{"message": message}]})
    assert response.outcome == "answered"
    assert [json.loads(c.arguments) for c in response.calls] == [{"a": 1}] * 2
    turn = say("assistant", calls=response.calls, carried=response.carried)
    body = write_body("chat", request(turn))
    sent = body["messages"][0]["tool_calls"]
    assert sent[0]["extra_content"] == signature
    assert "extra_content" not in sent[1]


@pytest.mark.parametrize("junk", [None, 3, "x", [None, 3], [{}], [{"function": 3}], {"a": 1}])
def test_calls_that_are_none_break_no_reply(junk: object) -> None:
    message = {"content": "hi", "tool_calls": junk}
    (chat,) = read("chat", {"choices": [{"message": message}]})
    assert chat.text == "hi"
    items = junk if isinstance(junk, list) else [junk]
    calls = [{"type": "function_call", "arguments": item} for item in items]
    output = [{"type": "message", "content": [{"type": "output_text", "text": "hi"}]}, *calls]
    reply = {"status": "completed", "output": output}
    (responses,) = read("responses", reply)
    assert responses.text == "hi"
    blocks = [{"type": "text", "text": "hi"}, {"type": "tool_use", "input": junk}]
    assert read("messages", {"content": blocks})[0].text == "hi"
