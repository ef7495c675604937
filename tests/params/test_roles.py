"""Fields of models: each has a role, and what depends on it follows from the role alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from omibench.graph.job_hash import slice_study
from omibench.params.models.registry import PROVIDERS, block_class, parse_model
from omibench.params.roles import Role, field_roles, join_fields, select_fields
from omibench.params.runtime import dump_runtime
from omibench.params.setting import Cell
from omibench.params.stages.analyze import certificate_identity, is_certified
from omibench.params.study import Study, parse_study

LEAST: dict[str, dict[str, Any]] = {
    "simulated": {"oracle": "oracle.jsonl"},
    "recorded": {"responses": {"cot": ["a.parquet"]}},
    "python": {"sandbox": "podman", "image": "a"},
    "experts": {"experts": {"detect": {"id": "m"}}},
    "transformers-chat": {"id": "m", "revision": "a" * 40, "trust_remote_code": True},
    **{
        name: {"id": "m", "revision": "a" * 40}
        for name in ("vllm", "transformers", "transformers-reward")
    },
}
PRICE = {"input": 1.0, "output": 2.0, "as_of": "2026-11-21"}
OTHER: dict[str, Any] = {
    "label": "L", "group": "G", "parameters_b": 7.0, "active_parameters_b": 1.0, "base": "m",
    "family": "F", "variant": "thinking", "weights": "closed", "cutoff": "2025-06",
    "retired": "2026-06",
    "id": "other", "revision": "2" * 40, "endpoint": "azure", "limits": {"attempts": 2},
    "price": PRICE, "trust_remote_code": True,
    "image_tokens": "gemini", "base_url": "http://127.0.0.1:1/v1", "key_env": "OTHER",
    "batch": True, "api": "responses", "effort": "high", "max_tokens_field": "max_tokens",
    "detail": "low", "extra_body": {"a": 1}, "thinking": True, "dtype": "float16",
    "max_pixels": 1000, "seed": 5, "resources": {"gpus": 8}, "tensor_parallel": 4,
    "pipeline_parallel": 2, "max_model_len": 99, "max_num_seqs": 2, "gpu_memory": 0.5,
    "engine": {"a": 1}, "batch_size": 2, "device": "cuda:1", "oracle": "other.jsonl",
    "ability": 1.0, "setting_effects": {"cot": 1.0}, "image_penalty": 0.5,
    "slips": {"units": 0.5}, "lasting_share": 0.1, "usual_mistake": 0.1, "discernment": 1.0,
    "lasting_taste": 0.1, "true_positive_rate": 0.5, "false_positive_rate": 0.5,
    "error_rate": 0.5, "responses": {"cot": ["b.parquet"]}, "partial": True,
    "reward": True, "context_tokens": 4096, "draws": {"tokens": 9}, "gpus": 2, "dimensions": 256,
    "config": {"effort": "high"}, "args": {"a": 1}, "adapter": "tuned",
    "sandbox": "docker", "image": "b", "python": "python3.12", "at_once": 3, "seconds": 9.0,
    "experts": {"detect": {"id": "n"}}, "memory_mb": 512,
    "folder_mb": 9, "pictures": 1, "output": 999, "tiles": 3,
}  # fmt: skip
"""Another value of every field of every block; those of inner blocks with roles stand below."""
FIXED = {
    ("openai_embeddings", "batch"),
    ("sentence-transformers", "trust_remote_code"),
    ("transformers-chat", "trust_remote_code"),
}
"""Fields that allow no other value."""
INNER: dict[str, Any] = {
    "can": {"samples": True, "seed": True, "logprobs": True, "prefill": True, "temperature": False,
            "images": 3, "image_mb": 1.5},
}  # fmt: skip


def study(provider: str, **more: Any) -> Study:
    block = {"provider": provider, **LEAST.get(provider, {"id": "m"}), **more}
    if provider == "anthropic" and "thinking" in more:
        block["thinking"] = "adaptive"
    values = {
        "models": {"m": block},
        "settings": {"cot": {}},
        # What answers nothing is in no list of models.
        "infer": {} if answers_nothing(block) else {"models": ["m"], "settings": ["cot"]},
    }
    return parse_study(values, "test")


def answers_nothing(block: dict[str, Any]) -> bool:
    return block["provider"] in ("transformers-reward", "python", "experts") or "reward" in block


def fields() -> list[tuple[str, str, Any, Role]]:
    """Provider, field, another value as it is written in the block, and the field's role."""
    cases = []
    for provider in PROVIDERS.built_in_names:
        for name, role in field_roles(block_class(provider)).items():
            if name == "provider" or (provider, name) in FIXED:
                continue
            if isinstance(role, Role):
                cases.append((provider, name, OTHER[name], role))
            elif name in INNER:
                cases += [
                    (provider, name, {inner: INNER[name][inner]}, inner_role)
                    for inner, inner_role in field_roles(role).items()
                    if isinstance(inner_role, Role)
                ]
            else:
                cases.append((provider, name, OTHER[name], Role.IDENTITY))
    return cases


@pytest.mark.parametrize(
    ("provider", "name", "value", "role"), fields(), ids=lambda value: str(value)[:40]
)
def test_what_a_field_changes_follows_from_its_role(
    provider: str, name: str, value: Any, role: Role
) -> None:
    plain, other = study(provider), study(provider, **{name: value})
    models = plain.models["m"], other.models["m"]
    changed = {
        "certificate": certificate_identity(models[0]) != certificate_identity(models[1]),
        "job": slice_study(plain, "infer", Cell("m", "cot"))
        != slice_study(other, "infer", Cell("m", "cot")),
        "runtime": _operating(plain) != _operating(other),
        "report": slice_study(plain, "analyze") != slice_study(other, "analyze"),
    }
    assert changed == {
        "certificate": role is Role.IDENTITY,
        "job": role in (Role.IDENTITY, Role.REQUEST),
        "runtime": role is Role.RUNTIME,
        "report": True,
    }
    stored = models[0].store_identity != models[1].store_identity
    if name == "max_tokens_field":  # keys of what was paid for have never held it
        assert not stored
    elif value == {"temperature": False}:  # recorded in keys of the API that takes one
        assert stored == (provider == "openai")
    else:
        assert stored == (role is Role.IDENTITY)


def _operating(study: Study) -> str:
    values = study.model_dump(mode="json", exclude_defaults=True)
    return dump_runtime(values, Path("/work"))


def test_the_parts_of_a_block_are_the_block() -> None:
    for provider in PROVIDERS.built_in_names:
        block = block_class(provider)
        names = block.model_fields.keys() & OTHER.keys() - {"base", "thinking"}
        needed = LEAST.get(provider, {})
        names -= {name for fixed, name in FIXED if fixed == provider and name not in needed}
        values = {name: OTHER[name] for name in names} | {"provider": provider}
        values |= {"can": INNER["can"]} if "can" in block.model_fields else {}
        joined: dict[str, Any] = {}
        for role in Role:
            joined = join_fields(joined, select_fields(block, values, (role,)))
        assert joined == values
        assert parse_model(joined) == parse_model(values)


def test_a_field_without_a_mark_is_identity_and_unknown_keys_are_kept() -> None:
    class Inner(BaseModel):
        plain: int = 0

    class Outer(BaseModel):
        inner: Inner = Inner()
        many: list[Inner] = []

    assert field_roles(Outer) == {"inner": Inner, "many": Role.IDENTITY}
    values = {"inner": {"plain": 1}, "many": [], "added_later": 2}
    assert select_fields(Outer, values, (Role.IDENTITY,)) == values
    assert select_fields(Outer, values, (Role.RUNTIME,)) == {}


def test_a_judge_that_is_spread_over_more_gpus_keeps_its_certificate() -> None:
    judge = parse_model({"provider": "vllm", "id": "org/judge", "seed": 3})
    spread = parse_model(
        {"provider": "vllm", "id": "org/judge", "seed": 3, "tensor_parallel": 4,
         "pipeline_parallel": 2}
    )  # fmt: skip
    as_written = [{"id": "org/judge", "seed": 3, "provider": "vllm"}]
    as_written_spread = [{**as_written[0], "tensor_parallel": 4}]
    for model in (judge, spread):
        assert [certificate_identity(model)] == as_written
        assert is_certified(as_written, [model])
        assert is_certified(as_written_spread, [model])
        assert not is_certified([{**as_written[0], "seed": 4}], [model])
        assert not is_certified(as_written, [model, model])
    assert json.dumps(as_written, sort_keys=True) == json.dumps(
        [certificate_identity(judge)], sort_keys=True
    )


def test_a_certificate_of_rules_or_of_an_unknown_provider_is_compared_as_it_is() -> None:
    judge = parse_model({"provider": "openai", "id": "gpt"})
    assert not is_certified([{"name": "someone"}], [judge])
    assert not is_certified([{"provider": "gone", "id": "gpt"}], [judge])
