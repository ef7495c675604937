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


def study(block: dict[str, Any] | None = None, **more: Any) -> Study:
    values = {
        "models": {
            "b": BASE, "far": {"provider": "openai", "id": "x"}, "own": BASE | {"adapter": "mine"},
        },
        "settings": {"cot": {}},
        "tune": {
            "t": {"base": "b", "data": "mmdu", **(block or {})}, "u": {"base": "b", "data": "x"},
        },
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


def test_two_tunings_of_one_base_and_set_have_names_of_their_own() -> None:
    one, other = (
        study(tune={name: {"base": "b", "data": "mmdu"} for name in ("t", "u")}).models[name].label
        for name in ("t", "u")
    )
    assert (one, other) == ("Base + mmdu (t)", "Base + mmdu (u)")


def test_an_adapter_of_ones_own_is_an_input_of_its_cells(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}", "utf-8")
    made = study(models={"b": BASE, "own": BASE | {"adapter": str(tmp_path)}})
    assert model_files(made, "own") == [str(tmp_path / "adapter_config.json")]


def test_slices_are_studies_with_what_a_job_depends_on() -> None:
    made = study({"label": "Mine", "resources": {"hours": 9, "gpus": 2}})
    tune = slice_study(made, "tune", Cell("t", ""))
    assert tune["tune"] == {"t": {"base": "b", "data": "mmdu"}}
    assert set(tune["models"]) == {"b"}
    assert slice_study(study(), "tune", Cell("t", "")) == tune, "what the scheduler needs"
    two = study({"gpus": 2, "sharding": "fsdp"})
    part = slice_study(two, "tune", Cell("t", ""))
    assert part["tune"]["t"]["gpus"] == 2, "a step has twice as many conversations"
    assert parse_study(part, "a slice").tune["t"].sharding == "fsdp"
    assert collect_resources(two, "tune", "t")["gpu"] == 2
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
        ({"sharding": "fsdp"}, {}, "set gpus to 2 or more"),
        ({"gpus": 4, "resources": {"gpus": 2}}, {}, "gpus is 4, but resources.gpus is 2"),
        ({"base": "u"}, {}, "'u' is a key of `tune` itself"),
        ({"base": "own"}, {}, "'own' has an adapter, which a second one would replace"),
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
