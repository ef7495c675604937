from __future__ import annotations

from typing import Any

import pytest

from omibench.params.checks.remarks import list_remarks
from omibench.params.study import Study

MODEL = {"provider": "simulated", "oracle": "synthetic:mathreal:1"}


def make_study(**score: Any) -> Study:
    return Study.model_validate(
        {
            "models": {"m": MODEL, "g": MODEL},
            "settings": {"direct": {"prompt": "direct"}},
            "infer": {"models": ["m", "g"], "settings": ["direct"]},
            "score": score,
        }
    )


@pytest.mark.parametrize("score", [{"grader": "g"}, {"judge": "g"}])
def test_who_grades_is_known(score: dict[str, str]) -> None:
    assert not list_remarks(make_study(rules=["mathreal"], **score))
    assert not list_remarks(make_study(rules=["robust"]))


def test_a_scorer_without_its_grader_is_remarked() -> None:
    (remark,) = list_remarks(make_study(rules=["robust", "mathreal"]))
    assert "set `score.grader`" in remark
    assert "\n" not in remark
