"""Names of models in tables of others."""

from __future__ import annotations

from omibench.stages.analyze.model_names import match_models

LABELS = {"qwen": "Qwen3-VL-8B", "qwen-i": "Qwen3-VL-8B-Instruct", "gpt": "GPT-5"}


def test_the_very_same_name_comes_first() -> None:
    names = ["Qwen3-VL-8B-Instruct", "Qwen3-VL-8B", "gpt", "gpt_5"]
    assert match_models(names, LABELS) == {
        "Qwen3-VL-8B-Instruct": "qwen-i", "Qwen3-VL-8B": "qwen", "gpt": "gpt", "gpt_5": None,
    }  # fmt: skip


def test_case_signs_and_endings_make_no_other_model() -> None:
    assert match_models(["gpt 5 preview"], LABELS) == {"gpt 5 preview": "gpt"}


def test_a_name_that_fits_two_models_fits_none() -> None:
    assert match_models(["qwen3 vl 8b"], LABELS) == {"qwen3 vl 8b": None}
