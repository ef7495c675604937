"""What a job asks of a scheduler follows from its model's block and from nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.graph.job_hash import slice_study
from omibench.params.models.providers import LocalModel
from omibench.params.resources import collect_resources, count_cpus, find_endpoint
from omibench.params.setting import Cell
from omibench.params.stages.score import ScoreParams
from omibench.params.study import Study, parse_study

VLLM = {"provider": "vllm", "id": "org/model"}
GPT = {"provider": "openai", "id": "gpt"}


def study(**models: dict[str, Any]) -> Study:
    return parse_study(
        {
            "models": models,
            "settings": {"cot": {}},
            "infer": {"models": list(models), "settings": ["cot"]},
        },
        "params.yaml",
    )


def test_a_local_model_asks_for_the_gpus_that_it_is_spread_over() -> None:
    block = {**VLLM, "tensor_parallel": 2, "pipeline_parallel": 2}
    asked = {"cpus": 16, "memory_gb": 0.5, "hours": 1.5, "gpu_model": "a100", "gpu_maker": "amd"}
    found = study(m={**block, "resources": asked})
    assert collect_resources(found, "fill", "m") == {
        "gpu": 4,
        "gpu_model": "a100",
        "gpu_manufacturer": "amd",
        "mem_mb": 500,
        "runtime": 90,
    }
    assert count_cpus(found, "m") == 16


def test_a_whole_node_may_be_asked_for() -> None:
    assert collect_resources(study(m={**VLLM, "resources": {"gpus": 8}}), "fill", "m")["gpu"] == 8


@pytest.mark.parametrize("more", [{"device": "cpu"}, {"resources": {"gpus": 0}}])
def test_a_model_on_the_cpu_asks_for_no_gpu(more: dict[str, Any]) -> None:
    asked = collect_resources(study(m={"provider": "transformers", "id": "x", **more}), "fill", "m")
    assert [asked[name] for name in ("gpu", "gpu_model", "gpu_manufacturer")] == [None] * 3
    assert (
        collect_resources(study(m={"provider": "transformers", "id": "x"}), "fill", "m")["gpu"] == 1
    )


def test_a_model_spread_over_more_gpus_than_it_is_given_is_one_clear_line() -> None:
    with pytest.raises(ParamsError) as error:
        study(m={**VLLM, "tensor_parallel": 4, "resources": {"gpus": 2}})
    assert str(error.value).startswith("params.yaml: models.m")
    assert str(error.value).endswith(
        "the model is spread over 4 GPUs, but resources.gpus is 2; raise it, or lower `gpus`, "
        "or tensor_parallel x pipeline_parallel of vLLM"
    )


def test_resources_change_no_answer() -> None:
    plain, asked = study(m=VLLM), study(m={**VLLM, "resources": {"memory_gb": 100, "gpus": 8}})
    cell = Cell("m", "cot")
    assert slice_study(plain, "infer", cell) == slice_study(asked, "infer", cell)
    model = asked.models["m"]
    assert isinstance(model, LocalModel)
    assert "resources" in model.model_dump()


def test_cells_of_one_endpoint_share_its_name() -> None:
    found = study(
        a=GPT,
        b={**GPT, "id": "other"},
        c={**GPT, "base_url": "https://eu.api.example.org:8443/v1"},
        d={"provider": "anthropic", "id": "x"},
        e={**GPT, "batch": True},
        f=VLLM,
    )
    assert [find_endpoint(found, name) for name in "abcdef"] == [
        "openai", "openai", "eu_api_example_org", "anthropic", None, None,
    ]  # fmt: skip
    none = {"api": 0, "api_anthropic": 0, "api_eu_api_example_org": 0, "api_openai": 0}
    assert collect_resources(found, "infer", "b") == {**none, "api": 1, "api_openai": 1}
    assert collect_resources(found, "infer", "c") == {**none, "api": 1, "api_eu_api_example_org": 1}
    assert collect_resources(found, "infer", "e") == none
    assert collect_resources(found, "infer", "f") == none
    assert list(collect_resources(found, "infer")) == list(none)


def test_scoring_asks_for_a_share_when_its_judge_is_behind_an_api() -> None:
    base = study(m=VLLM, judge=GPT)
    judged = base.model_copy(update={"score": ScoreParams.model_validate({"judge": "judge"})})
    assert collect_resources(base, "score", "m") == {}
    assert collect_resources(judged, "score", "m") == {"api": 1, "api_openai": 1}


def test_saliency_of_a_local_model_asks_for_what_loading_it_takes() -> None:
    local = {"provider": "vllm", "id": "org/model", "resources": {"memory_gb": 64, "hours": 2}}
    api = {"provider": "openai", "id": "m"}
    values = {
        "models": {"local": local, "api": api},
        "settings": {"direct": {}},
        "infer": {"models": ["local", "api"], "settings": ["direct"]},
    }
    study = parse_study(values, "test")
    asked = collect_resources(study, "saliency", "local")
    assert (asked["mem_mb"], asked["runtime"], asked["gpu"], asked["api"]) == (64000, 120, 1, 0)
    other = collect_resources(study, "saliency", "api")
    assert (other["api"], other["gpu"]) == (1, None)
    # Snakemake converts these two, and takes no None for them.
    assert isinstance(other["mem_mb"], int)
    assert isinstance(other["runtime"], int)
    assert set(asked) == set(other) == set(collect_resources(study, "saliency"))


def test_choosing_by_a_local_reward_model_asks_for_its_gpus() -> None:
    head = {"provider": "transformers-reward", "id": "org/rm", "gpus": 4}
    best = {"how": "best-of-n", "judge": "rm", "captions": "eyes"}
    sampled = {"decoding": {"samples": 4}}
    values: dict[str, Any] = {
        "models": {"api": GPT, "rm": {**head, "resources": {"hours": 2}},
                   "eyes": {**VLLM, "resources": {"memory_gb": 64}}},
        "settings": {"best": {**sampled, "aggregate": best},
                     "vote": {**sampled, "aggregate": "majority"}},
        "infer": {"models": ["api"], "settings": ["best", "vote"]},
    }  # fmt: skip
    asked = collect_resources(parse_study(values, "test"), "aggregate", "api", "best")
    assert (asked["gpu"], asked["mem_mb"], asked["runtime"]) == (4, 64000, 1440)
    votes = collect_resources(parse_study(values, "test"), "aggregate", "api", "vote")
    assert votes["gpu"] is None
    assert (
        set(votes) == set(asked) == set(collect_resources(parse_study(values, "test"), "aggregate"))
    )
    values["settings"].pop("best")
    values["infer"]["settings"] = ["vote"]
    assert collect_resources(parse_study(values, "test"), "aggregate", "api", "vote") == {}
