"""What is defined and asked nothing is said in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omibench.params.study import describe_unused, parse_study, parse_study_file

MODEL = {"provider": "simulated", "oracle": "oracle.jsonl"}
VALUES = {"models": {"a": MODEL, "b": MODEL}, "settings": {"cot": {}, "direct": {}}}


def said(**blocks: Any) -> str | None:
    return describe_unused(parse_study(VALUES | blocks, "test"))


def test_a_study_that_leaves_infer_out_says_what_to_write() -> None:
    assert said() == (
        "the models a, b and the settings cot, direct: never used, and the study ends with its "
        "dataset; add `infer: {models: [a, b], settings: [cot, direct]}`, or remove them"
    )


def test_a_block_that_infer_was_not_told_of_is_named() -> None:
    found = said(infer={"models": ["a"], "settings": ["cot", "direct"]})
    assert found is not None
    assert found.startswith("the model b: never used; add `infer: {models: [a, b], ")


def test_models_of_other_roles_are_asked() -> None:
    given = {"infer": {"models": ["a"], "settings": ["cot", "direct"]}, "score": {"judge": "b"}}
    assert said(**given) is None
    assert said(settings={}, rationale={"writer": "a", "labeller": "b"}) is None


def test_models_without_any_setting() -> None:
    found = said(settings={})
    assert found is not None
    assert "models: [a, b], settings: [...]" in found


@pytest.mark.parametrize("name", ["params.yaml", "studies/omibench.yaml", "studies/mathreal.yaml"])
def test_our_own_studies_ask_all_that_they_define(root: Path, name: str) -> None:
    assert describe_unused(parse_study_file(root / name)) is None
