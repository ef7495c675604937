"""Which settings are points of one curve."""

from __future__ import annotations

from typing import Any

from omibench.params.setting import Setting
from omibench.params.study import parse_study_file
from omibench.stages.analyze.results.curve_series import (
    SeriesPoint,
    list_prompts,
    list_series,
    locate_budget,
    locate_shots,
)


def make_settings(**values: dict[str, Any]) -> dict[str, Setting]:
    """Settings by name."""
    return {name: Setting.model_validate(value) for name, value in values.items()}


def test_settings_that_differ_in_their_budget_alone_are_one_curve_whatever_their_names() -> None:
    settings = make_settings(
        large={"decoding": {"max_tokens": 2048}, "label": "Large"},
        zebra={"decoding": {"max_tokens": 512}, "label": "Small"},
        warm={"decoding": {"max_tokens": 512, "temperature": 0.6}},
        direct={"decoding": {"max_tokens": 1024}, "prompt": "direct"},
        first={"decoding": {"max_tokens": 1024}, "images": "first"},
    )
    (curve,) = list_series(settings, locate_budget)
    assert curve.name == ""
    assert curve.points == (SeriesPoint(512, "zebra"), SeriesPoint(2048, "large"))


def test_several_curves_are_named_by_what_they_differ_in() -> None:
    settings = make_settings(
        a={"decoding": {"max_tokens": 512}},
        b={"decoding": {"max_tokens": 1024}},
        c={"decoding": {"max_tokens": 512}, "prompt": "direct"},
        d={"decoding": {"max_tokens": 1024}, "prompt": "direct"},
    )
    assert [c.name for c in list_series(settings, locate_budget)] == ["prompt cot", "prompt direct"]


def test_no_example_begins_the_curves_of_every_kind_of_examples() -> None:
    settings = make_settings(
        none={"examples": {"k": 0}},
        text={"examples": {"k": 3, "images": "none"}},
        picture={"examples": {"k": 3, "images": "one"}},
    )
    curves = list_series(settings, locate_shots)
    assert [c.name for c in curves] == ["images none", "images one"]
    assert [[p.setting for p in c.points] for c in curves] == [
        ["none", "text"],
        ["none", "picture"],
    ]


def test_of_two_settings_at_one_place_the_one_with_more_samples_is_the_point() -> None:
    settings = make_settings(one={}, five={"decoding": {"samples": 5}}, shot={"examples": {"k": 1}})
    (curve,) = list_series(settings, locate_shots)
    assert [p.setting for p in curve.points] == ["five", "shot"]


def test_a_vote_is_no_point_of_a_curve_of_means() -> None:
    votes = {"decoding": {"samples": 5, "max_tokens": 512}, "aggregate": "majority"}
    settings = make_settings(vote=votes, mean={"decoding": {"max_tokens": 1024}})
    assert list_series(settings, locate_budget) == []


def test_the_budgets_and_examples_of_omibench_are_found_from_its_parameters() -> None:
    settings = parse_study_file("studies/omibench.yaml").settings
    (budgets,) = list_series(settings, locate_budget)
    assert [p.place for p in budgets.points] == [512, 1024, 2048, 4096, 8192, 16384]
    assert budgets.points[-1].setting == "cot"
    shots = list_series(settings, locate_shots)
    assert [c.name for c in shots] == ["images none", "images one", "images all"]
    assert {tuple(p.place for p in c.points) for c in shots} == {(0, 3)}


def test_the_examples_of_usnco_v_are_two_curves_each_with_its_own_beginning() -> None:
    settings = parse_study_file("studies/usnco_v.yaml").settings
    greedy, sampled = list_series(settings, locate_shots)
    assert [p.place for p in greedy.points] == [0, 1, 2, 3, 4, 5]
    assert greedy.points[0].setting == "zero-shot"
    assert sampled.points[0].setting == "zero-shot-5"
    assert "temperature 1.0" in sampled.name


def test_prompts_are_compared_where_all_else_is_the_same() -> None:
    settings = parse_study_file("studies/omibench.yaml").settings
    (prompts,) = list_prompts(settings)
    assert list(prompts) == [
        "cot", "least-to-most", "plan-and-solve", "visualization-of-thought", "direct",
    ]  # fmt: skip
    assert prompts["cot"] == "cot"


def test_of_several_budgets_of_a_prompt_the_largest_is_compared() -> None:
    settings = make_settings(
        short={"decoding": {"max_tokens": 512}},
        cot={"decoding": {"max_tokens": 2048}},
        direct={"decoding": {"max_tokens": 256}, "prompt": "direct"},
    )
    assert list_prompts(settings) == [{"cot": "cot", "direct": "direct"}]
    assert list_prompts(make_settings(a={}, b={"images": "first"})) == []
