from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.params.study import Study, list_remarks, parse_study_file

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
    assert not list_remarks(make_study(scorers=["mathreal"], **score))
    assert not list_remarks(make_study(scorers=["robust"]))


def test_a_scorer_without_its_grader_is_remarked() -> None:
    (remark,) = list_remarks(make_study(scorers=["robust", "mathreal"]))
    assert "set `score.grader`" in remark
    assert "\n" not in remark


@pytest.mark.parametrize(("today", "is_retired"), [("2026-02-16", False), ("2026-02-17", True)])
def test_a_retired_endpoint_is_remarked_from_its_day_on(today: str, is_retired: bool) -> None:
    served = {"provider": "openai", "id": "chatgpt-4o-latest", "retired": "2026-02-17"}
    replayed = {
        "provider": "recorded",
        "responses": {"direct": ["a.jsonl"]},
        "retired": "2026-02-17",
    }
    study = Study.model_validate(
        {
            "models": {"m": served, "g": {**MODEL, "retired": "2025-06"}, "r": replayed},
            "settings": {"direct": {"prompt": "direct"}},
            "infer": {"models": ["m", "g", "r"], "settings": ["direct"]},
        }
    )
    remarks = list_remarks(study, today=date.fromisoformat(today))
    assert [("of m (2026-02-17) are shut down" in remark) for remark in remarks] == (
        [True] if is_retired else []
    )


def test_a_date_without_quotes_is_remarked_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(
        "models:\n  m: {price: {as_of: 2026-11-21}}\n  n: {price: {as_of: '2026-11-21'}}\n"
    )
    (remark,) = list_remarks(make_study(scorers=["robust"]), [str(file)])
    assert remark.startswith(f"{file}, line 2: 2026-11-21 is a date of YAML, which DVC cannot read")
    assert remark.endswith('put it in quotes: "2026-11-21"')


def test_former_names_of_keys_are_read_with_a_remark(tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text("score: {rules: [emma, robust]}\nanalyze: {main_rules: robust}\n")
    study = parse_study_file(file)
    assert (study.score.scorers, study.analyze.main_scorer) == (["emma", "robust"], "robust")
    remarks = list_remarks(study, [str(file)])
    assert remarks[0] == f"{file}: `score.rules` is now called `score.scorers`"
    file.write_text("score:\n  rules: [robst]\n")
    with pytest.raises(ParamsError, match=r"line 2: score\.rules\.0: unknown scorer 'robst'"):
        parse_study_file(file)
    file.write_text("score: {rules: [robust], scorers: [robust]}\n")
    with pytest.raises(ParamsError, match=r"score\.rules: is the former name of `scorers`"):
        parse_study_file(file)
