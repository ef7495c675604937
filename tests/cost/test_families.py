"""Which options a served model has; what is unknown is never cheap."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.models.cost import dearest, image_formula
from omibench.params.models.providers import AnthropicModel, OpenAIModel, SimulatedModel, VllmModel


def openai(served: str, formula: str | None, **more: Any) -> OpenAIModel:
    values = {"provider": "openai", "id": served, "image_tokens": formula, **more}
    return OpenAIModel.model_validate(values)


@pytest.mark.parametrize(
    ("served", "formula", "tokens"),
    [
        ("gpt-4o-2024-11-20", "openai-tiles", 765),
        ("gpt-4o-mini", "openai-tiles", 25501),
        ("gpt-5", "openai-tiles", 630),
        ("gpt-5.1-2025-11-13", "openai-tiles", 630),
        ("o3", "openai-tiles", 675),
        ("gpt-5-mini", "openai-patches", 1659),
        ("o4-mini-2025-04-16", "openai-patches", 1762),
        ("gpt-5.4", "openai-patches", 1229),
        ("gemini-2.5-pro", "gemini", 1032),
        ("gemini-3-pro-preview", "gemini", 1120),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen-vl", 37 * 37 + 2),
        ("qwen3-vl-plus", "qwen-vl", 32 * 32 + 2),
    ],
)
def test_options_follow_from_the_served_id(served: str, formula: str, tokens: int) -> None:
    found = image_formula(openai(served, formula))
    assert found((1024, 1024)) == tokens
    assert found.is_declared


@pytest.mark.parametrize(
    ("served", "tokens"),
    [
        ("claude-3-7-sonnet-latest", 1521),
        ("claude-sonnet-4-5", 1521),
        ("claude-opus-4-20250514", 1521),
        ("claude-opus-4-6", 1521),
        ("claude-opus-4-7", 72 * 72 - 423),
    ],
)
def test_newer_claude_models_see_more(served: str, tokens: int) -> None:
    values = {"provider": "anthropic", "id": served, "image_tokens": "anthropic"}
    found = image_formula(AnthropicModel.model_validate(values))
    assert found((2000, 2000)) == tokens


def test_an_unknown_model_is_counted_at_the_largest_published_numbers() -> None:
    tiles = image_formula(openai("my-gateway/model", "openai-tiles"))
    assert not tiles.is_declared
    assert tiles((512, 512)) == 2833 + 5667
    bare = image_formula(openai("my-gateway/model", None))
    assert not bare.is_declared
    assert bare((512, 512)) == dearest(512, 512) == 8500


def test_the_block_has_the_last_word() -> None:
    low = openai("gpt-4o", "openai-tiles", detail="low")
    assert image_formula(low)((3000, 3000)) == 85
    values = {"provider": "vllm", "id": "Qwen/Qwen2.5-VL-3B-Instruct", "image_tokens": "qwen-vl"}
    small = VllmModel.model_validate({**values, "max_pixels": 100 * 784})
    assert image_formula(small)((3000, 3000)) == 102


def test_an_image_that_cannot_be_measured_is_counted_as_a_large_one() -> None:
    found = image_formula(openai("gpt-4.1-mini", "openai-patches"))
    assert found(None) == found((4096, 4096)) > found((800, 600))


def test_what_is_simulated_takes_no_image_tokens() -> None:
    model = SimulatedModel.model_validate({"provider": "simulated", "oracle": "o.jsonl"})
    assert image_formula(model)((1000, 1000)) == 0
