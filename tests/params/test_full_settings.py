"""Settings that show the whole of every item."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.params.cells import list_full_settings
from omibench.params.setting import Setting
from omibench.params.study import parse_study

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "direct": {"prompt": "direct"},
    "short": {"decoding": {"max_tokens": 256}, "label": "Short"},
    "sampled": {"decoding": {"samples": 4, "temperature": 0.7}},
    "first": {"images": "first"},
    "none": {"images": "none"},
    "no-choices": {"without": ["choices"]},
    "read": {"perception": "I+QM"},
    "seen": {"perception": "I"},
}


def test_settings_that_change_nothing_of_an_item_are_full() -> None:
    settings = {name: Setting.model_validate(block) for name, block in SETTINGS.items()}
    assert list_full_settings(settings, [*settings]) == ["plain", "direct", "sampled", "seen"]
    assert list_full_settings(settings, ["short", "first"]) == ["short"], "the longest there is"
    assert list_full_settings(settings, [*settings], ["none", "plain"]) == ["plain", "none"]


def test_a_stated_setting_is_one_of_the_study() -> None:
    values = {
        "models": {"m": {"provider": "simulated", "oracle": "o.jsonl"}},
        "settings": {"plain": {}},
        "infer": {"models": ["m"], "settings": ["plain"]},
        "analyze": {"full_settings": ["plane"]},
    }
    with pytest.raises(ParamsError, match=r"analyze\.full_settings: 'plane'"):
        parse_study(values, "params.yaml")
