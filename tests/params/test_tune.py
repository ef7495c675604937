"""The block `tune`: each key is also a model, with the block of its base."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.graph.job_hash import slice_study
from omibench.graph.stage import model_files
from omibench.params.resources import collect_resources
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study

BASE = {"provider": "vllm", "id": "org/base", "revision": "abc", "label": "Base", "group": "Open"}


def study(tune: dict[str, Any] | None = None, **more: Any) -> Study:
    values = {
        "models": {"b": BASE, "far": {"provider": "openai", "id": "x"}}, "settings": {"cot": {}},
        "tune": {"t": {"base": "b", "data": "mmdu", **(tune or {})}},
        "infer": {"models": ["b", "t"], "settings": ["cot"]},
    }  # fmt: skip
    return parse_study(values | more, "test")


def test_a_tuned_model_has_the_block_of_its_base() -> None:
    model: Any = study().models["t"]
    assert (model.provider, model.id, model.revision, model.group) == (
        "vllm", "org/base", "abc", "Open",
    )  # fmt: skip
    assert (model.label, model.base, model.adapter) == ("Base + mmdu", "b", "results/tune/t")
    assert study({"label": "Mine"}).models["t"].label == "Mine"
    named = study(study={"results": "results/other"})
    assert getattr(named.models["t"], "adapter") == "results/other/tune/t"  # noqa: B009
    assert model_files(named, "t") == ["results/other/tune/t/tuned.json"]


def test_slices_are_studies_with_what_a_job_depends_on() -> None:
    made = study({"label": "Mine", "resources": {"gpus": 2}})
    tune = slice_study(made, "tune", Cell("t", ""))
    assert tune["tune"] == {"t": {"base": "b", "data": "mmdu"}}
    assert set(tune["models"]) == {"b"}
    assert slice_study(study(), "tune", Cell("t", "")) == tune, "neither label nor GPUs count"
    infer = slice_study(made, "infer", Cell("t", "cot"))
    assert infer["models"]["t"]["adapter"] == "results/tune/t"
    assert slice_study(study({"lr": 1e-5}), "infer", Cell("t", "cot")) == infer
    for part in (tune, infer):
        parse_study(part, "a slice")
    assert collect_resources(made, "tune", "t")["gpu"] == 2


@pytest.mark.parametrize(
    ("tune", "more", "line"),
    [
        ({"base": "c"}, {}, "tune.t.base: 'c' is not defined"),
        ({"base": "far"}, {}, "'far' is not a model of the provider vllm or transformers"),
        ({"method": "full", "rank": 8}, {}, "rank belongs to the method lora"),
        ({"sharding": "fsdp"}, {}, "set resources.gpus to 2 or more"),
        ({"lr": 0}, {}, "tune.t.lr"),
        ({}, {"models": {"b": BASE, "t": BASE}}, "models.t: is also a key of `tune`"),
    ],
)
def test_a_mistake_is_named(tune: dict[str, Any], more: dict[str, Any], line: str) -> None:
    with pytest.raises(ParamsError) as raised:
        study(tune, **more)
    assert line in str(raised.value)


def test_the_released_sets_are_in_the_folder_of_data() -> None:
    block = study({"data": "cmmcot"}).tune["t"]
    assert block.locate_data("sets") == str(Path("sets/cmmcot_260k.json"))
    assert study({"data": "own/train.jsonl"}).tune["t"].locate_data("sets") == "own/train.jsonl"
