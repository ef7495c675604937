"""Asking in shards: what waits for an API, how it is cut, and each shard's share of the limits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.params.models.providers import OpenAIModel
from omibench.params.study import Study, parse_study
from omibench.study.sharding import (
    choose_shard_size,
    divide_limits,
    interleave,
    limit_budget,
    make_shards,
    name_endpoint,
    select_api_models,
)

API: dict[str, Any] = {
    "provider": "openai", "id": "Lab/m", "base_url": "https://api.lab.example:8443/v1",
    "limits": {"concurrency": 10, "requests_per_minute": 100, "tokens_per_minute": 5000},
}  # fmt: skip


@pytest.fixture
def study() -> Study:
    models = {
        "api": API,
        "batch": {"provider": "openai", "id": "m", "batch": True},
        "stand-in": {"provider": "simulated", "oracle": "o.jsonl"},
        "local": {"provider": "vllm", "id": "m"},
    }
    return parse_study({"models": models}, "test")


def test_only_what_is_asked_over_a_network_waits(study: Study) -> None:
    assert select_api_models(study, study.models) == ["api", "batch"]


@given(st.integers(0, 500), st.integers(1, 60))
def test_shards_hold_every_request_once(total: int, size: int) -> None:
    shards = make_shards("api", "cot", total, size)
    assert [i for shard in shards for i in range(total)[shard.slice]] == list(range(total))
    assert all(shard.stop - shard.start <= size for shard in shards)


def test_a_batch_is_one_shard(study: Study) -> None:
    assert choose_shard_size(study, ["api"], 200) == 200
    size = choose_shard_size(study, ["api", "batch"], 200)
    assert [s[2:] for s in make_shards("batch", "cot", 1000, size)] == [(0, 1000)]


def test_no_endpoint_waits_for_another() -> None:
    assert interleave([[1, 2, 3], [10], [], [20, None]]) == [1, 10, 20, 2, None, 3]


def test_a_lane_is_named_by_its_endpoint_without_secrets(study: Study) -> None:
    named = {"base_url": "https://user:pass@api.lab.example:8443/v1"}
    for model in (study.models["api"], study.models["api"].model_copy(update=named)):
        assert name_endpoint(model) == "omibench openai api.lab.example:8443 Lab:m"
    assert name_endpoint(study.models["batch"]) == "omibench openai m"


@given(st.integers(1, 20))
def test_all_parallel_shards_together_keep_within_the_limits(shards: int) -> None:
    study = parse_study({"models": {"api": API}}, "test")
    model = divide_limits(study, "api", shards).models["api"]
    assert isinstance(model, OpenAIModel)
    limits = model.limits
    assert limits.concurrency * shards <= max(10, shards)
    assert limits.requests_per_minute == pytest.approx(100 / shards)
    assert limits.tokens_per_minute == pytest.approx(5000 / shards)


def test_a_smaller_budget_holds_for_a_run(study: Study) -> None:
    assert limit_budget(study, None) is study
    assert limit_budget(study, 2.5).study.budget_usd == 2.5
    assert limit_budget(limit_budget(study, 2.5), 1e6).study.budget_usd == 2.5
    assert study.study.budget_usd is None
