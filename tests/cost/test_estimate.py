"""Estimates: tokens, dollars and hours, from rules first and from answers later."""

from __future__ import annotations

from typing import Any

import pytest
from tests.asks import ask

from omibench.models.cost import (
    NO_HISTORY,
    History,
    estimate,
    image_formula,
    learn,
    worst_case,
)
from omibench.params.models.providers import AnthropicModel, OpenAIModel, RecordedModel, VllmModel
from omibench.schemas.request import (
    Request,
    Response,
    Usage,
)

PRICE = {"input": 2.0, "output": 10.0, "as_of": "2026-11-21"}


def openai(**more: Any) -> OpenAIModel:
    return OpenAIModel.model_validate({"provider": "openai", "id": "m", "price": PRICE, **more})


def request(index: int = 0, max_tokens: int = 1000) -> Request:
    return ask("x" * 400, index=index, max_tokens=max_tokens)


CALLS = [[request()], [request(1)]]
INPUT = 2 * (100 + 8)


def test_without_answers_the_stated_share_is_expected() -> None:
    found = estimate(openai(), CALLS)
    assert (found.calls, found.text, found.output, found.output_most) == (2, INPUT, 500, 2000)
    assert found.usd == pytest.approx((INPUT * 2 + 500 * 10) / 1e6)
    price = openai().price
    assert price is not None
    assert found.usd_most == pytest.approx(sum(worst_case(openai(), price, c) for c in CALLS))


def test_a_batch_costs_its_share() -> None:
    whole, batch = estimate(openai(), CALLS), estimate(openai(batch=True), CALLS)
    assert whole.usd is not None
    assert batch.usd == pytest.approx(whole.usd / 2)
    assert batch.hours is None


def test_answers_teach_length_input_and_latency() -> None:
    usage = Usage(input_tokens=162, output_tokens=80)
    answered = [(request(), Response(text="x", usage=usage, latency_s=3.0))]
    history = learn([answered], image_formula(openai()))
    assert history == History(1, 80.0, 3.0, 1.5)
    found = estimate(openai(), CALLS, history)
    assert (found.text, found.output) == (1.5 * INPUT, 160)


def test_what_no_provider_counted_is_not_learned() -> None:
    answered = [(request(), Response(text="x", usage=Usage(output_tokens=80)))]
    found = learn([answered], image_formula(openai()))
    assert found == History(1, 80.0, None, None)
    assert learn([], image_formula(openai())) == NO_HISTORY


def test_the_expected_never_passes_the_worst_case() -> None:
    history = History(9, 1000.0, None, input_factor=50.0)
    found = estimate(openai(), CALLS, history)
    assert found.usd == found.usd_most


def test_a_paid_model_without_a_price_is_unknown_and_never_zero() -> None:
    for model in (
        OpenAIModel(provider="openai", id="m"),
        AnthropicModel(provider="anthropic", id="claude-x"),
    ):
        found = estimate(model, CALLS)
        assert (found.usd, found.usd_most) == (None, None)


def test_what_runs_here_or_is_replayed_costs_no_dollars() -> None:
    local = estimate(VllmModel(provider="vllm", id="q"), CALLS)
    assert (local.usd, local.hours) == (0.0, None)
    replayed = estimate(RecordedModel(provider="recorded", responses={}), CALLS)
    assert (replayed.usd, replayed.hours) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("limits", "hours"),
    [
        ({"concurrency": 1}, 600 * 6 / 3600),
        ({"concurrency": 100}, 6 * 6 / 3600),
        ({"concurrency": 10_000}, 6 / 3600),
        ({"concurrency": 100, "requests_per_minute": 10}, 1.0),
        ({"concurrency": 100, "tokens_per_minute": 600 * 308 / 120}, 2.0),
    ],
)
def test_time_is_the_slowest_of_the_limits(limits: dict[str, Any], hours: float) -> None:
    """600 calls of 108 input and 200 output tokens, 2 s + 200 / 50 s each."""
    model = openai(limits=limits)
    history = History(responses=1, output_tokens=200.0)
    found = estimate(model, [[request(n)] for n in range(600)], history)
    assert found.hours == pytest.approx(hours)
