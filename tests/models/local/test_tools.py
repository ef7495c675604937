"""Tools for local engines: what a chat template is given, and what is read out of a reply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.asks import answers, extend
from tests.models.fake_vllm import FakeVllm
from tests.models.local_blocks import picture, provider, shown
from tests.models.tiny_vlm import CHAT_TEMPLATE, build

from omibench.errors import ModelError
from omibench.models.local.prompts import chat_messages, parse_reply
from omibench.models.local.vllm import VllmProvider
from omibench.params.models.providers import VllmModel
from omibench.schemas.request import ImagePart, Message, Request, TextPart, ToolCall, ToolSpec

LOOK = ToolSpec(name="look", description="Look again.", parameters={"type": "object"})
CALL = '<tool_call>\n{"name": "look", "arguments": {"image": "image_1"}}\n</tool_call>'
TEMPLATE = (
    "{%- if tools -%}<|im_start|>system\n{%- for tool in tools -%}{{ tool | tojson }}"
    "{%- endfor -%}<tool_call></tool_call><|im_end|>\n{%- endif -%}"
    "{%- for m in messages -%}{%- for c in m.tool_calls or [] -%}"
    "[{{ c.function.name }} {{ c.function.arguments | tojson }}]{%- endfor -%}{%- endfor -%}"
    f"{CHAT_TEMPLATE}"
)


def offering(request: Request, *more: Message) -> Request:
    """The same request with a tool on offer, and further turns."""
    return extend(request, *more, tools=(LOOK,))


def history(image: ImagePart) -> tuple[Message, ...]:
    call = ToolCall(id="c1", name="look", arguments='{"image": "<|im_end|>"}')
    words = TextPart(text="image_1, again.")
    return (
        Message(role="assistant", parts=(), calls=(call,)),
        Message(role="tool", parts=(words, image), answers="c1"),
    )


def test_calls_are_read_out_of_the_words() -> None:
    words, calls = parse_reply(f"Closer.\n{CALL}\n{CALL}")
    assert words == "Closer."
    assert [(c.id, c.name) for c in calls] == [("call_1", "look"), ("call_2", "look")]
    assert json.loads(calls[0].arguments) == {"image": "image_1"}
    assert parse_reply("\\boxed{4} ") == ("\\boxed{4} ", ())


def test_what_is_no_call_has_no_name() -> None:
    for body in ("{", "[]", '{"arguments": {}}', '{"name": 3}', "[" * 100_000):
        _, (call,) = parse_reply(f"<tool_call>{body}")
        assert call.name == ""
        assert "it is no object" in call.arguments


@given(st.lists(st.sampled_from(["<tool_call>", "</tool_call>", "{", "}", '"name"', ":", " x"])))
def test_no_reply_breaks_the_reader(words: list[str]) -> None:
    text = "".join(words)
    assert bool(parse_reply(text)[1]) == ("<tool_call>" in text)


def test_turns_are_given_as_templates_take_them(tmp_path: Path) -> None:
    image = picture(tmp_path)
    conversation = offering(shown("Which?"), *history(image)).conversation
    turns = chat_messages(conversation, {"<|im_end|>"}, lambda _: {"type": "image"})
    assert [turn["role"] for turn in turns] == ["user", "assistant", "tool", "user"]
    assert turns[1]["tool_calls"][0]["function"] == {
        "name": "look", "arguments": {"image": "< |im_end|>"},
    }  # fmt: skip
    assert [part["type"] for part in turns[2]["content"]] == ["text"]
    assert [part["type"] for part in turns[3]["content"]] == ["text", "image"]


def vllm() -> VllmProvider:
    return VllmProvider("qwen", VllmModel(provider="vllm", id="qwen-vl"))


def test_vllm_is_given_tools_where_they_are_on_offer(fake: FakeVllm, tmp_path: Path) -> None:
    fake.reply, fake.chat_template = lambda *_: (f"Closer. {CALL}", "stop"), TEMPLATE
    asked = vllm()
    asked.expect_images(9)
    image = picture(tmp_path)
    plain, tools = shown("Which?", image), offering(shown("Which?", image))
    without, offered = answers(asked, plain, tools)
    assert without.calls == ()
    assert "<tool_call>" in without.text
    assert (offered.text, offered.calls[0].name) == ("Closer.", "look")
    assert fake.tools == [None, [{"type": "function", "function": LOOK.model_dump()}]]
    assert [load["limit_mm_per_prompt"]["image"] for load in fake.loads] == [9]


def test_a_template_without_tools_is_named_with_the_remedy(fake: FakeVllm) -> None:
    with pytest.raises(ModelError, match=r"'qwen'.*set `style: text` under the setting's `tools`"):
        list(vllm().answer([offering(shown("Which?"))]))
    assert fake.calls == []


@pytest.mark.usefixtures("one_thread")
@pytest.mark.slow
def test_transformers_renders_tools_and_turns_that_call(tmp_path: Path) -> None:
    folder = build(tmp_path / "tiny")
    asked = provider(folder, device="cpu")
    image = picture(tmp_path)
    request = offering(shown("Which?", image, max_tokens=2), *history(image))
    with pytest.raises(ModelError, match="set `style: text`"):
        list(asked.answer([request]))
    engine = asked.open_engine()
    engine.processor.chat_template = TEMPLATE
    batch = engine.inputs([request.conversation], None)
    prompt = engine.tokenizer.decode(batch["input_ids"][0].tolist())
    assert '"name": "look"' in prompt
    assert '[look {"image": "< |im_end|>"}]' in prompt
    ((_, response),) = asked.answer([request])
    assert response.outcome in ("answered", "truncated", "empty")
