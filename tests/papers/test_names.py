"""Names of models in tables of others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.papers.tables import find_same, match_models, normalise_name

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


def test_two_names_that_fit_one_model_share_it_by_no_chance() -> None:
    assert match_models(["GPT 5", "gpt-5 preview"], LABELS) == {
        "GPT 5": "gpt", "gpt-5 preview": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "label", "same"),
    [
        ("Qwen2.5VL-72b", "Qwen2.5-VL-72B-Instruct", True),
        ("Doubao-1.5-vision-pro", "Doubao-1.5-vision-pro-32k", True),
        ("模型甲", "模型乙", False),
        ("GPT-5", "GPT-5-mini", False),
        ("Qwen3-8B-thinking", "Qwen3-8B-Instruct", False),
    ],
)
def test_names_that_two_tables_spell_differently(name: str, label: str, same: bool) -> None:
    assert find_same(name, [label], lambda text: [text]) == ([label] if same else [], False)


@given(name=st.text("abcXYZ019 .-_", max_size=20))
def test_a_name_is_the_same_in_any_case_and_punctuation(name: str) -> None:
    assert normalise_name(name) == normalise_name(name.upper()) == normalise_name(f"-{name} .")
