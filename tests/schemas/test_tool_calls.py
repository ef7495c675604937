"""The text protocol: what is a call, and what hostile replies come to."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from omibench.schemas.request import LONGEST, read_calls, write_call

CROP = '{"image": "image_1", "box": [0, 0, 1, 1]}'


def test_a_call_is_read_as_it_was_written() -> None:
    read = read_calls(f"Let me see.\n\n{write_call('crop', CROP)}\n")
    assert read is not None
    assert read.before == "Let me see."
    assert [(c.id, c.name, json.loads(c.arguments)) for c in read.calls] == [
        ("call_1", "crop", json.loads(CROP))
    ]


def test_an_answer_makes_no_call() -> None:
    for text in ("", "\\boxed{4}", "```\ncode\n```", "```json\n{}\n```", "a ```tool\n{}\n```"):
        assert read_calls(text) is None


def test_what_follows_the_first_run_of_calls_was_written_unseen() -> None:
    two = f"{write_call('look', '{}')}\n\n{write_call('crop', '{}')}"
    read = read_calls(f"{two}\nResult: a cat.\n{write_call('blur', '{}')}\n\\boxed{{cat}}")
    assert read is not None
    assert [call.name for call in read.calls] == ["look", "crop"]


def test_a_block_that_is_no_call_says_why() -> None:
    bodies = {
        "{": "it is no JSON",
        "[1]": "it is no object",
        '{"tool": "crop"}': "it is no object",
        '{"tool": 3, "arguments": {}}': "it is no object",
        '{"tool": "crop", "arguments": {}, "more": 1}': "it is no object",
        '{"tool": "crop", "arguments": []}': "it is no object",
        '{"tool": "crop", "arguments": {"a": ' + "9" * 5000 + "}}": "Exceeds the limit",
        '{"tool": "crop", "arguments": ' + "[" * 5000: "",
        "x" * (LONGEST + 1): f"it has {LONGEST + 1} characters",
    }
    for body, why in bodies.items():
        read = read_calls(f"```tool\n{body}\n```")
        assert read is not None, body[:40]
        (call,) = read.calls
        assert call.name == ""
        assert why in call.arguments


def test_a_fence_inside_a_call_ends_it() -> None:
    read = read_calls('```tool\n{"tool": "draw_text", "arguments": {"text": "\n```\n"}}\n```')
    assert read is not None
    assert [call.name for call in read.calls] == [""]


def test_a_text_in_a_call_may_have_line_ends() -> None:
    read = read_calls('```tool\n{"tool": "python", "arguments": {"code": "a = 1\nb = 2"}}\n```')
    assert read is not None
    assert [(call.name, call.arguments) for call in read.calls] == [
        ("python", '{"code": "a = 1\\nb = 2"}')
    ]


def test_a_block_that_nobody_closed_ends_with_the_reply() -> None:
    read = read_calls('```tool\n{"tool": "look", "arguments": {}}')
    assert read is not None
    assert read.calls[0].name == "look"


def test_a_hostile_reply_takes_linear_time() -> None:
    read = read_calls("```tool\n" * 200_000)
    assert read is not None
    assert len(read.calls) == 1
    many = read_calls(f"{write_call('look', '{}')}\n" * 1000)
    assert many is not None
    assert len(many.calls) == 1000


@given(st.text() | st.lists(st.sampled_from(["```tool", "```", "{", "}", '"tool"', "\n", " "])))
def test_no_reply_breaks_the_reader(text: str | list[str]) -> None:
    read = read_calls(text if isinstance(text, str) else "\n".join(text))
    assert read is None or read.calls


@given(
    st.text(max_size=30),
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9) | st.none()),
)
def test_every_call_comes_back(name: str, arguments: dict[str, object]) -> None:
    read = read_calls(write_call(name, json.dumps(arguments)))
    assert read is not None
    (call,) = read.calls
    if len(json.dumps(arguments)) < LONGEST / 2:
        assert (call.name, json.loads(call.arguments)) == (name, arguments)
