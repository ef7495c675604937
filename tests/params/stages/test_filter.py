"""Which reasons of the filter are tried: those of a preset, with others and without some."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.params.stages.filter import (
    JUDGEMENT_REASONS,
    PRESETS,
    THRESHOLD_REASONS,
    FilterParams,
)
from omibench.params.study import parse_study
from omibench.plugins.built_in import built_in_parts

SCREEN = {"models": ["one"]}
CAPTIONS = SCREEN | {"captioner": "one"}


def test_the_default_tries_all_but_what_no_paper_names() -> None:
    left_out = {"image_not_referred_to"}
    assert [*FilterParams().active_reasons] == [
        n for n in built_in_parts("reasons") if n not in left_out
    ]


@pytest.mark.parametrize("name", built_in_parts("reasons"))
def test_every_reason_can_be_switched_on_and_off_by_name(name: str) -> None:
    assert name in FilterParams(reasons=[name]).active_reasons
    assert name not in FilterParams(omitted_reasons=[name]).active_reasons


@pytest.mark.parametrize(
    ("preset", "reasons", "least_images", "choices"),
    [
        ("emma", [], 2, None),
        ("usnco-v", ["out_of_scope", "too_few_images"], 1, 4),
        ("mathreal", ["too_few_images"], 1, None),
        (
            "omibench",
            ["statement_incomplete", "statement_illegible", "answer_missing", "answer_ambiguous",
             "too_few_images", "exact_duplicate", "near_duplicate", "ocr_error"],
            2,
            None,
        ),
    ],
)  # fmt: skip
def test_a_preset_is_what_its_paper_names(
    preset: Any, reasons: list[str], least_images: int, choices: int | None
) -> None:
    params = FilterParams(preset=preset)
    assert params.active_reasons == reasons
    assert (params.least_images, params.wanted_choices) == (least_images, choices)


def test_thresholds_of_a_study_go_before_those_of_its_preset() -> None:
    params = FilterParams(preset="usnco-v", min_images=2, choice_count=5)
    assert (params.least_images, params.wanted_choices) == (2, 5)
    kept = FilterParams.model_validate(params.model_dump(exclude_defaults=True))
    assert (kept.least_images, kept.wanted_choices) == (2, 5), "a job is given the same"


def test_presets_and_thresholds_name_reasons_that_exist() -> None:
    for preset in PRESETS.values():
        assert {*preset.reasons} <= {*built_in_parts("reasons")}
        assert {*preset.judgements} <= {*JUDGEMENT_REASONS}
    assert {*THRESHOLD_REASONS} <= {*FilterParams.model_fields}
    for reasons in THRESHOLD_REASONS.values():
        assert {*reasons} <= {*built_in_parts("reasons")}


def test_a_reason_of_a_judgement_that_is_omitted_asks_nobody() -> None:
    blocks: dict[str, Any] = {"completeness": ["one"], "captions": CAPTIONS, "difficulty": SCREEN}
    params = FilterParams(**blocks)
    assert params.judgements == ["completeness", "captions", "difficulty"]
    quiet = FilterParams(
        **blocks,
        omitted_reasons=["not_one_complete_question", "captions_suffice", "too_easy"],
    )
    assert quiet.judgements == quiet.models == []
    assert quiet.screens == {}


def test_a_preset_says_which_of_its_judgements_have_no_models() -> None:
    assert FilterParams(preset="emma").missing_judgements == ["captions"]
    assert FilterParams(preset="mathreal").missing_judgements == ["completeness"]
    omitted = FilterParams(preset="emma", omitted_reasons=["captions_suffice"])
    named = FilterParams.model_validate({"preset": "emma", "captions": CAPTIONS})
    assert omitted.missing_judgements == named.missing_judgements == []


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"omitted_reasons": ["to_easy"]}, "unknown reason of the filter 'to_easy'; did you mean"),
        ({"reasons": ["too_easy"]}, "unknown reason of the filter 'too_easy'"),
        (
            {"reasons": ["ocr_error"], "omitted_reasons": ["ocr_error"]},
            "'ocr_error' is in both reasons and omitted_reasons",
        ),
        (
            {"preset": "omibench", "subjects": ["physics"]},
            "subjects is a threshold of out_of_scope, which preset 'omibench' does not apply",
        ),
        (
            {"omitted_reasons": ["exact_duplicate", "near_duplicate"], "near_duplicate_images": 9},
            "near_duplicate_images is a threshold of exact_duplicate and near_duplicate",
        ),
        ({"preset": "omi"}, "filter.preset"),
    ],
)
def test_a_mistake_gets_one_clear_line(block: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError) as raised:
        parse_study({"filter": block}, "params.yaml")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
