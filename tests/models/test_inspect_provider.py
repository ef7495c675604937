"""The provider `inspect`: models that inspect_ai queries, with omibench's retries and budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.asks import ask, say, talk
from tests.extras import require_extra
from tests.models.apis import PRICE, picture
from tests.models.traffic.simulated import Books

from model_server.handle import KEY_ENV, ServerHandle
from omibench.errors import ModelError, ParamsError
from omibench.models.registry import open_provider
from omibench.params.models.providers import InspectModel
from omibench.params.study import parse_study
from omibench.schemas.request import (
    Request,
    Response,
    ToolSpec,
)

require_extra("inspect", "inspect_ai")

LOOK = ToolSpec(
    name="look",
    description="Look at a picture.",
    parameters={
        "type": "object",
        "properties": {"n": {"type": "integer", "description": "which"}},
        "required": ["n"],
    },
)


def served(server: ServerHandle, **block: Any) -> InspectModel:
    return InspectModel.model_validate(
        {
            "provider": "inspect", "id": "openai/gpt-4o", "base_url": server.openai_url,
            "key_env": KEY_ENV, "args": {"responses_api": False}, "price": PRICE,
        } | block
    )  # fmt: skip


def answer(model: InspectModel, *requests: Request, budget: Books | None = None) -> list[Response]:
    given = dict(open_provider("m", model).answer(requests, budget or Books()))
    return [given[request] for request in requests]


def test_text_pictures_tokens_and_price_arrive(server: ServerHandle, tmp_path: Path) -> None:
    server.configure(
        replies={"What": {"text": "So \\boxed{7}.", "reasoning": "I count."}},
        reasoning_field="reasoning_content", cached_fraction=0.5,
    )  # fmt: skip
    question = ask("What is it?", picture(tmp_path, "a.png"), "Answer.", system="Be brief.",
                   temperature=0.5, max_tokens=99)  # fmt: skip
    (response,) = answer(served(server), question)
    assert (response.text, response.outcome) == ("So \\boxed{7}.", "answered")
    assert response.reasoning == "I count."
    assert response.finish_reason == "stop"
    usage = response.usage
    assert usage.input_tokens
    assert usage.output_tokens
    assert usage.cached_tokens
    price = served(server).price
    assert price is not None
    expected = price.compute_dollars(
        usage.input_tokens, usage.output_tokens, usage.cached_tokens, batch=False
    )
    assert response.cost_usd == pytest.approx(expected)
    (content,) = server.stats()["contents"].values()
    assert content["text"] == "Be brief.\nWhat is it?\nAnswer."
    assert content["images"] == [question.conversation.images[0].sha256]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["rate_limit", "server_error", "overloaded", "reset"])
def test_what_passes_is_sent_again_by_omibench_alone(server: ServerHandle, fault: str) -> None:
    server.configure(script=[{"match": "Two", "steps": [fault, fault]}])
    books = Books()
    (response,) = answer(served(server), ask("Two times."), budget=books)
    assert response.outcome == "answered"
    assert server.stats()["requests"] == 3  # a retry by inspect_ai or its SDK would be one more
    assert not books.open
    assert books.ends["paid"] == 1


def test_its_own_retries_do_not_multiply_the_attempts(server: ServerHandle) -> None:
    server.configure(faults={"server_error": 1.0})
    (response,) = answer(served(server, limits={"attempts": 3, "outage_s": 1}), ask("Hello."))
    assert response.outcome == "provider_error"
    assert server.stats()["requests"] == 3


def test_the_decoding_reaches_the_endpoint(server: ServerHandle) -> None:
    server.configure(rejects=["temperature"])
    (response,) = answer(served(server), ask("Hello.", temperature=0.5))
    assert "'temperature' is not supported" in (response.error or "")
    (response,) = answer(served(server, can={"temperature": False}), ask("Hello."))
    assert response.outcome == "answered"
    samples = [ask("Seeded.", index=index) for index in range(3)]
    drawn = {
        r.text for r in answer(served(server, can={"seed": True, "temperature": False}), *samples)
    }
    assert len(drawn) > 1


def test_a_call_of_a_tool_goes_both_ways(server: ServerHandle) -> None:
    server.configure(
        replies={"Look": {"text": "Seen.", "calls": [{"name": "look", "arguments": {"n": 2}}]}}
    )
    first = ask("Look twice.", tools=(LOOK,))
    (response,) = answer(served(server), first)
    (call,) = response.calls
    assert (call.name, json.loads(call.arguments)) == ("look", {"n": 2})
    after = talk(
        *first.conversation.messages,
        say("assistant", calls=response.calls, carried=response.carried),
        say("tool", "A cat.", answers=call.id),
        tools=(LOOK,),
    )
    (final,) = answer(served(server), after)
    assert (final.text, final.calls) == ("Seen.", ())
    assert "A cat." in [*server.stats()["contents"].values()][-1]["text"]


def test_an_error_in_the_place_of_an_answer_is_no_answer(server: ServerHandle) -> None:
    server.configure(too_long=["Long"], script=[{"match": "Bad", "steps": ["content_filter"]}])
    fine, long, bad = answer(served(server), ask("Hello."), ask("Long story."), ask("Bad word."))
    assert fine.outcome == "answered"
    assert (long.outcome, long.text) == ("refused", "")
    assert long.finish_reason == "context_length_exceeded"
    assert "longer" in (long.error or "") or "context" in (long.error or "")
    assert bad.outcome == "refused"


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"id": "nobody/model"}, r"inspect_ai cannot open 'nobody/model'"),
        ({"key_env": "NO_SUCH_KEY"}, r"the key NO_SUCH_KEY is missing"),
        ({"config": {"temprature": 1}}, r"cannot open 'openai/gpt-4o': .*temprature"),
        ({"config": {"seed": 1}}, r"`config\.seed` is set by omibench"),
        ({"config": {"max_retries": 5}}, r"`config\.max_retries` is set by omibench"),
        ({"args": {"responses_api": False, "colour": 1}}, r"cannot open 'openai/gpt-4o': .*colour"),
    ],
)
def test_a_mistake_in_the_block_is_one_line_and_sends_nothing(
    server: ServerHandle, block: dict[str, Any], message: str
) -> None:
    with pytest.raises(ModelError, match=message) as error:
        answer(served(server, **block), ask("Hello."))
    assert "\n" not in str(error.value)
    assert server.stats()["requests"] == 0


def test_a_wrong_key_ends_the_run_and_is_not_shown(
    server: ServerHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.configure(api_keys=["another"])
    monkeypatch.setenv("OPENAI_API_KEY", "own-variable-key-0123456789")
    for block in ({}, {"key_env": None}):
        with pytest.raises(ModelError) as error:
            answer(served(server, **block), *[ask(f"Hello {n}.") for n in range(5)])
        assert "0123456789" not in str(error.value)
        assert "401" in str(error.value)


def test_what_inspect_does_not_offer_is_refused_before_anything_is_sent(
    server: ServerHandle,
) -> None:
    scored = ask("Hello.", options=("A", "B"))
    begun = talk(say("user", "Hello."), say("assistant", "The answer is"))
    for request, reason in ((scored, "scores no options"), (begun, "continue its own turn")):
        with pytest.raises(ModelError, match=reason):
            answer(served(server), request)
    assert server.stats()["requests"] == 0


def test_the_budget_stops_it_as_any_provider(server: ServerHandle) -> None:
    budget = Books(dollars=2.5)
    requests = [ask(f"Hello {n}.") for n in range(6)]
    outcomes = [
        response.outcome for response in answer(served(server, limits={"concurrency": 1}),
                                                *requests, budget=budget)
    ]  # fmt: skip
    assert "budget_stop" not in outcomes[:2]
    poor = [r.outcome for r in answer(served(server), *requests, budget=Books(dollars=0.5))]
    assert set(poor) == {"budget_stop"}


def test_its_mock_model_answers_in_any_order_with_its_own_cost() -> None:
    from inspect_ai.model import ModelOutput, ModelUsage

    def reply(messages: Any, *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", f"to {messages[-1].text}")
        output.usage = ModelUsage(
            input_tokens=5, output_tokens=7, total_tokens=16, input_tokens_cache_read=4,
            reasoning_tokens=3, total_cost=0.25,
        )  # fmt: skip
        return output

    model = InspectModel.model_validate(
        {"provider": "inspect", "id": "mockllm/model", "args": {"custom_outputs": reply}}
    )
    responses = answer(model, *[ask(f"question {n}") for n in range(20)])
    assert [r.text for r in responses] == [f"to question {n}" for n in range(20)]
    usage = responses[0].usage
    assert (usage.input_tokens, usage.cached_tokens, usage.reasoning_tokens) == (9, 4, 3)
    assert responses[0].cost_usd == 0.25


def test_options_that_change_answers_are_part_of_the_identity() -> None:
    def identity(**block: Any) -> dict[str, Any]:
        values = {"provider": "inspect", "id": "google/some", **block}
        return InspectModel.model_validate(values).store_identity

    assert identity(config={"effort": "high"}) != identity()
    assert identity(args={"vertex": True}) != identity()
    same = {"base_url": "https://host/v1", "key_env": "SOME_KEY", "limits": {"attempts": 2}}
    assert identity(**same) == identity()


def test_a_key_in_the_parameters_is_refused() -> None:
    block = {"provider": "inspect", "id": "openai/x", "args": {"api_key": "sk-0123456789abcdefgh"}}
    values = {
        "models": {"m": block},
        "settings": {"cot": {}},
        "infer": {"models": ["m"], "settings": ["cot"]},
    }
    with pytest.raises(ParamsError, match="contains a key") as error:
        parse_study(values, "params.yaml")
    assert "0123456789" not in str(error.value)
