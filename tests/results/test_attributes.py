"""Attributes of items, models and settings as columns."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from omibench.params.study import parse_study
from omibench.results.attributes import (
    NOT_STATED,
    AttributeTables,
    describe_items,
    describe_models,
    describe_settings,
    list_values,
)
from omibench.schemas.problem import Answer, Question


def answer(name: str, **more: object) -> Answer:
    return Answer.model_validate({"id": name, "answer": ["1"], "answer_type": "open"} | more)


STUDY = parse_study(
    {
        "models": {
            "big": {
                "provider": "simulated", "oracle": "o.jsonl", "family": "sim", "weights": "open",
                "parameters_b": 30, "active_parameters_b": 3.5,
            },
            "small": {"provider": "simulated", "oracle": "o.jsonl"},
        },
        "settings": {
            "plain": {},
            "two": {
                "images": {"show": "first", "k": 2}, "decoding": {"samples": 4, "max_tokens": 512},
                "aggregate": "majority",
            },
        },
        "infer": {"models": ["big", "small"], "settings": ["plain", "two"]},
    },
    "params.yaml",
)  # fmt: skip


def test_items_have_a_column_for_each_attribute() -> None:
    answers = [
        answer("a", group="g", n_images=2, attributes={"exam": "local", "skills": ["x", "y"]}),
        answer("b", attributes={"skills": "x"}),
    ]
    items = describe_items(answers, {"a": Question(id="a", question="?", source="p.pdf")})
    assert items["cluster"].to_list() == ["g", "b"]
    assert items["exam"].to_list() == ["local", None]
    assert items["skills"].to_list() == [["x", "y"], ["x"]]
    assert items["source"].to_list() == ["p.pdf", None]
    assert "topic" not in items.columns, "no item has one"


def test_models_and_settings_have_theirs() -> None:
    models = describe_models(STUDY.models)
    assert models.row(0, named=True) == {
        "model": "big", "label": None, "group": None, "provider": "simulated", "family": "sim",
        "variant": None, "base": None, "weights": "open", "parameters_b": 30.0,
        "active_parameters_b": 3.5,
    }  # fmt: skip
    settings = describe_settings(STUDY.settings)
    assert settings.filter(setting="two").row(0, named=True) == {
        "setting": "two", "prompt": "cot", "images": "first 2", "without": None,
        "perception": None, "tools": None, "aggregate": "majority", "shots": 0, "samples": 4,
        "budget": 512, "temperature": 0.0,
    }  # fmt: skip


def test_only_what_somebody_states_can_be_sliced_by() -> None:
    items = describe_items([answer("a", attributes={"exam": "x", "prompt": "y"})], {})
    tables = AttributeTables(
        items, describe_models(STUDY.models), describe_settings(STUDY.settings)
    )
    assert tables.of_items == ["subject", "n_images", "answer_type", "exam", "prompt"]
    assert tables.of_models == [
        "provider", "family", "weights", "parameters_b", "active_parameters_b",
    ]  # fmt: skip
    assert "prompt" not in tables.of_settings, "the attribute of items hides it"
    assert "images" in tables.of_settings


def test_values_are_texts_in_long_form() -> None:
    answers = [
        answer("a", n_images=9, attributes={"skills": ["x", "y", "x"]}),
        answer("b", n_images=2, attributes={"skills": "y"}),
        answer("c", n_images=6),
    ]
    items = describe_items(answers, {})
    assert list_values(items, "id", "skills").rows() == [
        ("a", "x"), ("a", "y"), ("b", "y"), ("c", NOT_STATED),
    ]  # fmt: skip
    assert list_values(items, "id", "n_images").rows() == [("a", "6+"), ("b", "2"), ("c", "6+")]
    sizes = list_values(describe_models(STUDY.models), "model", "parameters_b")
    assert sizes.rows() == [("big", "30"), ("small", NOT_STATED)]


@given(st.lists(st.lists(st.sampled_from("xyz"), max_size=3), min_size=1, max_size=8))
def test_every_item_has_each_of_its_labels_once(labels: list[list[str]]) -> None:
    answers = [answer(str(n), attributes={"k": value}) for n, value in enumerate(labels) if value]
    answers += [answer("none"), answer("one", attributes={"k": "x"})]
    long = list_values(describe_items(answers, {}), "id", "k")
    expected = {(str(n), label) for n, value in enumerate(labels) for label in value}
    assert sorted(long.rows()) == sorted(expected | {("none", NOT_STATED), ("one", "x")})
    assert isinstance(long.schema["k"], pl.String)


def test_the_weights_of_a_model_that_runs_here_are_open_unless_it_says_otherwise() -> None:
    local = {"provider": "vllm", "id": "org/m"}
    values = {"models": {"here": local, "mine": {**local, "weights": "closed"}}}
    models = describe_models(parse_study(values, "params.yaml").models)
    assert models.select("model", "weights").rows() == [("here", "open"), ("mine", "closed")]
