from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import omibench
from omibench.errors import ArgumentError, MissingInputError, OmibenchError, ParamsError

SYNTHETIC: dict[str, object] = {
    "benchmark": {"name": "synthetic", "like": "usnco-v", "seed": 1},
    "models": {"sim": {"provider": "simulated", "oracle": "synthetic:usnco-v:1"}},
    "settings": {"direct": {"prompt": "direct"}},
    "infer": {"models": ["sim"], "settings": ["direct"]},
    "score": {"scorers": ["robust"]},
}


def _values(folder: Path) -> dict[str, object]:
    places = {"results": str(folder / "results"), "store": str(folder / "store")}
    return {**SYNTHETIC, "study": places}


def test_a_study_is_loaded_from_a_file_or_a_mapping(tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(yaml.safe_dump(_values(tmp_path)), "utf-8")
    assert omibench.load_study(file) == omibench.load_study(_values(tmp_path))
    assert omibench.load_study(str(file), overrides={"data": "folder"}).data == "folder"
    assert omibench.load_study({}, overrides={"data": "folder"}).data == "folder"


@pytest.mark.parametrize(
    ("params", "overrides", "error", "message"),
    [
        (3, None, ArgumentError, "params: is 3; give the path of a params.yaml"),
        ("", None, ArgumentError, "params: is ''; give the path"),
        ("no.yaml", None, OmibenchError, "no.yaml: "),
        ({"modles": {}}, None, ParamsError, "params: modles: unknown key; did you mean 'models'"),
        ({}, ["a"], ArgumentError, "overrides: is list; give a mapping of top-level keys"),
        ({}, {"dta": "x"}, ParamsError, "overrides: dta: unknown key; did you mean 'data'"),
    ],
)
def test_wrong_parameters_are_one_line(
    params: object, overrides: object, error: type[OmibenchError], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        omibench.load_study(params, overrides=overrides)  # type: ignore[arg-type]
    assert len(caught.value.lines) == 1


def test_a_study_with_made_up_problems_is_planned_without_files(tmp_path: Path) -> None:
    plan = omibench.plan_study(omibench.load_study(_values(tmp_path)))
    assert [(row.model, row.setting) for row in plan.rows] == [("sim", "direct")]
    assert plan.rows[0].to_buy == plan.rows[0].requests > 0
    assert omibench.describe_plan(plan).startswith("Plan of the study")


@pytest.mark.parametrize(
    ("study", "questions", "error", "message"),
    [
        (
            "params.yaml",
            None,
            ArgumentError,
            "study: is str; give the result of omibench.load_study",
        ),
        ({}, None, ArgumentError, "study: is dict; give the result of"),
        (None, "no.jsonl", MissingInputError, "no.jsonl: the file does not exist"),
        (None, 3, ArgumentError, "questions: is 3; give the path"),
        (None, None, MissingInputError, "the dataset is not frozen yet; run"),
    ],
)
def test_what_cannot_be_planned_is_one_line(
    tmp_path: Path, study: object, questions: object, error: type[OmibenchError], message: str
) -> None:
    empty = omibench.load_study({"study": _values(tmp_path)["study"]})
    with pytest.raises(error, match=message):
        omibench.plan_study(study if study is not None else empty, questions)  # type: ignore[arg-type]


def test_only_a_plan_is_described() -> None:
    with pytest.raises(ArgumentError, match="plan: is str; give the result of"):
        omibench.describe_plan("plan")  # type: ignore[arg-type]
