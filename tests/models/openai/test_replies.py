"""From replies of the OpenAI API to outcomes, reasoning, tokens and dollars."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.apis import PRICE, read

from omibench.models.api.failures import Failure
from omibench.models.api.replies import same_family, split_reasoning
from omibench.schemas.request import Response

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def chat(*choices: dict[str, Any], **fields: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {"id": "c1", "model": "stub-model", "choices": list(choices), "usage": usage} | fields


def choice(content: Any, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    return {"message": {"content": content, **message}, "finish_reason": finish}


def one(reply: object, **block: Any) -> Response:
    (response,) = read(block.pop("api", "chat"), reply, **block)
    return response


@pytest.mark.parametrize("finish", ["error", "abort", "insufficient_system_resource", "ABORT"])
def test_a_reply_that_broke_off_is_no_answer(finish: str) -> None:
    with pytest.raises(Failure, match=f"ended with '{finish}'") as caught:
        one(chat(choice("half of an ans", finish)), price=PRICE)
    assert (caught.value.transient, caught.value.maybe_paid) == (True, True)
    assert caught.value.cost_usd == pytest.approx((100 * 2 + 10 * 10) / 1e6)


def test_a_sample_that_broke_off_is_left_out_and_the_others_are_kept() -> None:
    reply = chat(choice("1"), choice("2", "error"), choice("3"))
    found = read("chat", reply, 3, price=PRICE)
    assert [r.text for r in found] == ["1", "3"]
    assert sum(r.cost_usd or 0 for r in found) == pytest.approx((100 * 2 + 10 * 10) / 1e6)


@pytest.mark.parametrize(
    ("given", "outcome", "text", "reasoning"),
    [
        (choice("42"), "answered", "42", None),
        (choice("42", None), "answered", "42", None),
        (choice("the half of", "length"), "truncated", "the half of", None),
        (choice(None, "length", reasoning="hm"), "truncated", "", "hm"),
        (choice(None), "empty", "", None),
        (choice(" \n"), "empty", " \n", None),
        (choice(None, reasoning="it is 42"), "empty", "", "it is 42"),
        (choice("42", reasoning_content="hm"), "answered", "42", "hm"),
        (choice("<think>hm</think>\n\n42"), "answered", "42", "hm"),
        (choice("hm, more</think>42"), "answered", "42", "hm, more"),
        (choice("<think>for ever", "length"), "truncated", "", "for ever"),
        (choice(None, "content_filter"), "refused", "", None),
        (choice("", "stop", refusal="I cannot"), "refused", "I cannot", None),
        (choice([{"type": "text", "text": "4"}, {"text": "2"}]), "answered", "42", None),
        ({"finish_reason": "stop"}, "empty", "", None),
    ],
)
def test_outcomes_of_chat(given: Any, outcome: str, text: str, reasoning: str | None) -> None:
    found = one(chat(given))
    assert (found.outcome, found.text, found.reasoning) == (outcome, text, reasoning)


@pytest.mark.parametrize("choices", [[], None])
def test_no_choices_are_empty_for_each_sample(choices: Any) -> None:
    found = read("chat", chat() | {"choices": choices}, 3)
    assert [(r.outcome, r.finish_reason) for r in found] == [("empty", "no_choices")] * 3


MALFORMED = [
    [], [None], ["text"], [{}], [{"message": None}], [{"message": None, "finish_reason": "stop"}],
    [{"message": {}}], [{"message": {"role": "assistant", "content": None}}], [{"text": "42"}],
]  # fmt: skip


@pytest.mark.parametrize("choices", [None, *MALFORMED])
def test_a_malformed_reply_without_a_count_is_a_failure_worth_a_retry(choices: Any) -> None:
    with pytest.raises(Failure, match="neither an answer nor a count of tokens") as caught:
        read("chat", {"choices": choices}, 2, price=PRICE)
    assert (caught.value.transient, caught.value.maybe_paid) == (True, True)


@pytest.mark.parametrize("output", [[], [None], [{}], [{"type": "message", "content": None}]])
@pytest.mark.parametrize("status", ["completed", None])
def test_so_is_one_of_the_responses_api(output: Any, status: str | None) -> None:
    reply = {"status": status, "output": output}
    with pytest.raises(Failure, match="neither an answer nor a count of tokens"):
        one(reply, api="responses")


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (choice(None), "empty"),
        (choice("", None), "empty"),
        (choice(None, "length"), "truncated"),
        (choice("42", None), "answered"),
        ({"message": None, "finish_reason": "content_filter"}, "refused"),
    ],
)
def test_a_reply_of_a_server_that_counts_nothing_is_an_answer(given: Any, outcome: str) -> None:
    assert one({"choices": [given]}).outcome == outcome


def test_choices_come_in_their_order() -> None:
    found = read("chat", chat(choice("b") | {"index": 1}, choice("a") | {"index": 0}), 2)
    assert [r.text for r in found] == ["a", "b"]


def test_tokens_and_dollars_of_a_call_are_shared_by_its_samples() -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 301,
        "total_tokens": 1301,
        "prompt_tokens_details": {"cached_tokens": 400},
        "completion_tokens_details": {"reasoning_tokens": 200},
    }
    found = read("chat", chat(choice("a"), choice("b"), usage=usage), 2, price=PRICE)
    assert [r.usage.output_tokens for r in found] == [151, 150]
    assert [r.usage.reasoning_tokens for r in found] == [100, 100]
    dollars = (600 * 2 + 400 * 0.5 + 301 * 10) / 1e6
    assert sum(r.cost_usd or 0 for r in found) == pytest.approx(dollars)
    half = read("chat", chat(choice("a"), usage=usage), by_batch=True, price=PRICE)
    assert half[0].cost_usd == pytest.approx(dollars / 2)


def test_thoughts_that_only_the_total_counts_are_output() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 160}
    found = one(chat(choice("a"), usage=usage)).usage
    assert (found.output_tokens, found.reasoning_tokens) == (60, 50)


@pytest.mark.parametrize(
    ("asked", "served", "same"),
    [
        ("gpt-5", "gpt-5-2026-08-07", True),
        ("gemini-2.5-pro", "models/gemini-2.5-pro-preview-0506", True),
        ("Qwen/Qwen3-VL-8B", "qwen3-vl-8b", True),
        ("claude-opus-5@20260101", "claude-opus-5-20260101", True),
        ("gpt-5", "gpt-4o", False),
        ("stub-model", "another-model", False),
    ],
)
def test_families(asked: str, served: str, same: bool) -> None:
    assert same_family(asked, served) == same


def test_logprobs_add_up() -> None:
    rows = {"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -0.25}]}
    assert one(chat(choice("ab") | {"logprobs": rows})).logprob == -0.75


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def responses(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
    return {"id": "r1", "status": "completed", "output": list(output), "usage": usage} | fields


ANSWER = item("message", content=[item("output_text", text="42")])
HALF = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
FILTER = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}


@pytest.mark.parametrize(
    ("reply", "outcome", "text", "reasoning"),
    [
        (responses(ANSWER), "answered", "42", None),
        (
            responses(item("reasoning", summary=[item("summary_text", text="hm")]), ANSWER),
            "answered", "42", "hm",
        ),
        (responses(ANSWER, **HALF), "truncated", "42", None),
        (responses(item("reasoning", summary=[]), **HALF), "truncated", "", None),
        (responses(**FILTER), "refused", "", None),
        (
            responses(item("message", content=[item("refusal", refusal="no")])),
            "refused", "no", None,
        ),
        (responses(), "empty", "", None),
    ],
)  # fmt: skip
def test_outcomes_of_responses(reply: Any, outcome: str, text: str, reasoning: str | None) -> None:
    found = one(reply, api="responses")
    assert (found.outcome, found.text, found.reasoning) == (outcome, text, reasoning)
    assert found.usage.input_tokens == 5


@pytest.mark.parametrize(
    ("reply", "api", "transient"),
    [
        ("<html>", "chat", True),
        ([], "chat", True),
        ({}, "chat", True),
        ({"choices": "x"}, "chat", True),
        ({"output": []}, "chat", True),
        ({"status": "in_progress", "output": []}, "responses", True),
        ({"error": {"code": 503, "message": "busy"}}, "chat", True),
        ({"error": {"code": "server_error", "message": "oh"}}, "responses", True),
        ({"error": {"code": "invalid_prompt", "message": "no"}}, "responses", False),
        ({"error": "plain"}, "chat", False),
    ],
)
def test_what_is_no_reply(reply: Any, api: str, transient: bool) -> None:
    with pytest.raises(Failure) as caught:
        one(reply, api=api)
    assert caught.value.transient == transient
    assert caught.value.maybe_paid


@given(JSON, st.sampled_from(["chat", "responses"]))
def test_no_json_is_too_odd(reply: Any, api: str) -> None:
    odd = choice(reply, reply) | {"index": reply, "logprobs": {"content": [{"logprob": reply}]}}
    counts = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), reply)
    for body in (reply, chat(odd, usage=counts), {"choices": reply}, {"output": reply}):
        with suppress(Failure):
            read(api, body, price=PRICE)


@given(st.text())
def test_no_text_is_lost_between_answer_and_reasoning(text: str) -> None:
    answer, reasoning = split_reasoning(f"<think>{text}</think>42", "")
    assert (answer, reasoning) == ("42", text.strip() or None)
