"""What the server answers, and what it makes of images."""

from __future__ import annotations

import base64
import hashlib

import anthropic
import openai
import pytest

from model_server.conftest import JPEG, PNG, chat, chat_message, claude, data_url, only, respond
from model_server.handle import ServerHandle


def test_an_answer_follows_from_the_request_alone(server: ServerHandle) -> None:
    first = chat(server, n=3, temperature=0.6)
    again = chat(server, n=3, temperature=0.6)
    texts = [choice.message.content for choice in first.choices]
    assert texts == [choice.message.content for choice in again.choices]
    assert len(set(texts)) > 1
    assert all(text.startswith("The answer is \\boxed{") for text in texts)
    assert chat(server, "Question 2").choices[0].message.content not in texts
    seeded = chat(server, n=3, temperature=0.6, seed=1)
    assert [choice.message.content for choice in seeded.choices] != texts
    greedy = chat(server, n=3, temperature=0)
    assert len({choice.message.content for choice in greedy.choices}) == 1


def test_a_repeated_request_may_be_answered_otherwise(server: ServerHandle) -> None:
    server.configure(vary_repeats=True, letters=True)
    texts = {claude(server).content[0].text for _ in range(12)}
    assert 1 < len(texts) <= 4
    assert only(server)["paid"] == 12


def test_replies_come_from_a_table(server: ServerHandle) -> None:
    server.configure(
        replies={
            "volume of the": {"text": "\\boxed{42}", "reasoning": "Let me see."},
            "colour": ["red", "green"],
        }
    )
    assert chat(server, "the volume of the sphere").choices[0].message.content == "\\boxed{42}"
    colours = chat(server, "which colour?", n=3).choices
    assert [choice.message.content for choice in colours] == ["red", "green", "red"]
    indexed = chat(server, "which colour?", extra_headers={"x-sample-index": "1"})
    assert indexed.choices[0].message.content == "green"


def test_max_tokens_and_stop_sequences_end_an_answer(server: ServerHandle) -> None:
    server.configure(replies={"Question": "one two three four"})
    short = chat(server, max_tokens=2).choices[0]
    assert (short.message.content, short.finish_reason) == ("one two ", "length")
    stopped = chat(server, stop=["three", "four"]).choices[0]
    assert (stopped.message.content, stopped.finish_reason) == ("one two ", "stop")
    message = claude(server, max_tokens=2)
    assert (message.content[0].text, message.stop_reason) == ("one two ", "max_tokens")
    message = claude(server, stop_sequences=["three"])
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "three")
    response = respond(server, max_output_tokens=2)
    assert (response.output_text, response.status) == ("one two ", "incomplete")
    assert response.incomplete_details.reason == "max_output_tokens"


def test_logprobs_join_to_the_text(server: ServerHandle) -> None:
    choice = chat(server, logprobs=True, top_logprobs=3).choices[0]
    rows = choice.logprobs.content
    assert "".join(row.token for row in rows) == choice.message.content
    assert all(len(row.top_logprobs) == 3 and row.logprob < 0 for row in rows)
    assert chat(server).choices[0].logprobs is None
    response = respond(server, include=["message.output_text.logprobs"], top_logprobs=2)
    rows = response.output[-1].content[0].logprobs
    assert "".join(row.token for row in rows) == response.output_text
    assert {len(row.top_logprobs) for row in rows} == {2}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "inline", "hidden"])
def test_reasoning_stands_where_the_endpoint_puts_it(server: ServerHandle, field: str) -> None:
    server.configure(reasoning_tokens=10, reasoning_field=field)
    completion = chat(server)
    message = completion.choices[0].message
    shown = (message.model_extra or {}).get(field)
    assert bool(shown) == field.startswith("reasoning")
    assert message.content.startswith("<think>Each") == (field == "inline")
    assert completion.usage.completion_tokens_details.reasoning_tokens == 10
    high = chat(server, reasoning_effort="high").usage.completion_tokens_details
    assert high.reasoning_tokens == 20
    cut = chat(server, max_tokens=5).choices[0]
    assert cut.finish_reason == "length"
    if shown:
        assert cut.message.content is None


def test_thinking_blocks(server: ServerHandle) -> None:
    server.configure(reasoning_tokens=10)
    assert [block.type for block in claude(server).content] == ["text"]
    message = claude(server, thinking={"type": "adaptive"}, output_config={"effort": "high"})
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert message.usage.output_tokens_details.thinking_tokens == 20
    with pytest.raises(anthropic.BadRequestError, match="budget_tokens"):
        claude(server, thinking={"type": "enabled", "budget_tokens": 2000})
    server.configure(reasoning_field="reasoning")
    response = respond(server, reasoning={"effort": "low"})
    assert [item.type for item in response.output] == ["reasoning", "message"]
    assert response.usage.output_tokens_details.reasoning_tokens == 5


def test_usage_is_billed_and_cached(server: ServerHandle) -> None:
    server.configure(cached_fraction=0.5, image_tokens=100)
    usage = chat(server, messages=chat_message("12345678", PNG, PNG)).usage
    assert (usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens) == (202, 101)
    claimed = claude(server, "x" * 400).usage
    assert (claimed.input_tokens, claimed.cache_read_input_tokens) == (50, 50)
    stats = server.stats()
    assert stats["input_tokens"] == 302
    assert stats["cached_tokens"] == 151
    assert stats["output_tokens"] == usage.completion_tokens + claimed.output_tokens


def test_images_are_decoded_and_counted(server: ServerHandle) -> None:
    chat(server, messages=chat_message("a", PNG, "b", PNG))
    assert only(server)["images"] == [hashlib.sha256(PNG).hexdigest()] * 2
    assert server.stats()["images"] == 2
    server.reset()
    parts = [{"type": "input_text", "text": "a"}]
    parts.append({"type": "input_image", "image_url": data_url(JPEG, "image/jpeg")})
    respond(server, input=[{"role": "user", "content": parts}])
    assert only(server)["images"] == [hashlib.sha256(JPEG).hexdigest()]
    server.reset()
    data = base64.b64encode(PNG).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    claude(server, messages=[{"role": "user", "content": [{"type": "image", "source": source}]}])
    assert only(server)["images"] == [hashlib.sha256(PNG).hexdigest()]


def test_other_bytes_make_another_request(server: ServerHandle) -> None:
    one = chat(server, messages=chat_message("a", PNG)).choices[0].message.content
    two = chat(server, messages=chat_message("a", PNG + b"\0")).choices[0].message.content
    assert one != two
    assert server.stats()["distinct"] == 2


def test_what_is_no_image_is_refused(server: ServerHandle) -> None:
    for raw in (b"GIF89a....", b"plain"):
        with pytest.raises(openai.BadRequestError, match="declared as image/png"):
            chat(server, messages=chat_message("a", raw))
    server.configure(max_images=1)
    with pytest.raises(openai.BadRequestError, match="At most 1 image"):
        chat(server, messages=chat_message("a", PNG, PNG))
    assert server.stats()["rejected"] == 3
    assert server.stats()["paid"] == 0
