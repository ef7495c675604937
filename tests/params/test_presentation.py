"""Blocks of a setting that say what is left out, shown before, or read first."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.graph.job_hash import slice_study
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study


def study(setting: dict[str, Any], frozen: dict[str, int] | None = None) -> Study:
    values = {
        "models": {n: {"provider": "simulated", "oracle": "o.jsonl"} for n in ("sim", "reader")},
        "settings": {"mine": setting},
        "infer": {"models": ["sim"], "settings": ["mine"]},
        "freeze": {"examples": frozen or {}},
    }
    return parse_study(values, "test")


@pytest.mark.parametrize(
    ("setting", "frozen", "told"),
    [
        ({"examples": {"k": 3}}, {"set_aside": 2}, "needs freeze.examples.set_aside of at least 3"),
        ({"examples": {"k": 0}}, {}, "needs freeze.examples.set_aside of at least 1, but it is 0"),
        (
            {"examples": {"k": 5, "take": "window"}, "decoding": {"samples": 5}},
            {"first": 8, "set_aside": 20},
            "needs freeze.examples.first of at least 9, but it is 8",
        ),
        ({"examples": {"k": 6}}, {"set_aside": 9}, "settings.mine.examples.k"),
        ({"without": ["pictures"]}, {}, "settings.mine.without"),
        ({"perception": "I+QQ"}, {}, "settings.mine.perception"),
        ({"perception": {"given": "I+QM", "by": "nobody"}}, {}, "'nobody' is not defined"),
    ],
)
def test_what_cannot_be_is_one_line(
    setting: dict[str, Any], frozen: dict[str, int], told: str
) -> None:
    with pytest.raises(ParamsError) as error:
        study(setting, frozen)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_enough_examples_are_enough() -> None:
    study({"examples": {"k": 3}}, {"set_aside": 3})
    window = {"examples": {"k": 5, "take": "window"}, "decoding": {"samples": 5}}
    study(window, {"first": 9})


def test_a_job_is_given_its_reader_and_not_what_freeze_was_told() -> None:
    made = study({"perception": {"given": "I+QM", "by": "reader"}}, {"set_aside": 3})
    given = slice_study(made, "infer", Cell("sim", "mine"))
    assert set(given["models"]) == {"sim", "reader"}
    assert "freeze" not in given
    again = parse_study(given, "slice", whole_study=False)
    assert again.settings["mine"] == made.settings["mine"]
