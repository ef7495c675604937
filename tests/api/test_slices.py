"""Slices of a results folder: as the study's own, without its parameters."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.stages.analyze.conftest import Folders

import omibench
from omibench.errors import ArgumentError, MissingInputError

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def analyzed(made: Folders, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of the made study with what analyze wrote."""
    folder = tmp_path_factory.mktemp("slices") / "results"
    shutil.copytree(made.freeze.parent, folder)
    made.analyze(folder / "analyze", explorer=False, slices=["subject"])
    return folder


def test_a_slice_is_that_of_the_study(analyzed: Path) -> None:
    results = omibench.load_results(analyzed)
    rules = ["robust", "omibench", "emma", "gptscore"]
    keys = ["model", "setting", "rules", "metric", "value"]
    table = results.slice("subject")
    for name in ("slices", "slice-outcomes", "slice-lengths"):
        written = results.result_table(name)
        metrics = written["metric"].unique().to_list()
        ours = table.filter(table["metric"].is_in(metrics), table["rules"].is_in([*rules, ""]))
        assert (
            written.drop("result")
            .sort(keys)
            .equals(ours.select(written.columns).drop("result").sort(keys))
        )


def test_a_slice_may_be_of_one_cell_and_metric(analyzed: Path) -> None:
    results = omibench.load_results(analyzed)
    table = results.slice(
        by=["n_images", "answer_type"], metric="accuracy", scorer="emma", model="sim-weak",
        setting="cot",
    )  # fmt: skip
    assert table.select("model", "setting", "rules", "metric").unique().rows() == [
        ("sim-weak", "cot", "emma", "accuracy")
    ]
    assert table["n"].sum() == results.problems.height
    lengths = results.slice("subject", metric="characters", scorer="emma")
    assert lengths["rules"].unique().to_list() == [""]


def test_attributes_of_models_and_settings_are_known_after_the_analysis(
    made: Folders, analyzed: Path
) -> None:
    table = omibench.load_results(analyzed).slice("images,group", metric="gptscore")
    assert set(table["value"]) == {
        f"{images} × {group}"
        for images in ("all", "first")
        for group in ("High ability", "Middling ability", "Low ability")
    }
    assert set(table["cells"]) == {1, 2}
    with pytest.raises(ArgumentError, match="has the attribute 'group'; available: subject, "):
        omibench.load_results(made.freeze.parent).slice("group")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"by": "exam"}, "slice 'exam': no item, model or setting has the attribute 'exam'"),
        ({"by": []}, "slice '': give one attribute, or 2 different ones"),
        (
            {"by": "subject", "metric": "acuracy"},
            "metric: 'acuracy' is not in this slice; did you mean 'accuracy'",
        ),
        ({"by": "subject", "scorer": "robot"}, "scorer: .*'robot'; did you mean 'robust'"),
        ({"by": "subject", "model": "x"}, "model: no verdict has 'x'"),
        ({"by": "subject", "confidence": 95}, "confidence: is 95; give a level between 0 and 1"),
    ],
)
def test_what_is_not_there_is_one_line(
    made: Folders, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        omibench.load_results(made.freeze.parent).slice(**arguments)


def test_without_verdicts_there_is_nothing_to_slice(made: Folders, tmp_path: Path) -> None:
    for name in ("freeze", "infer"):
        shutil.copytree(made.freeze.parent / name, tmp_path / name)
    with pytest.raises(MissingInputError, match="has no verdicts; run `omibench score` first"):
        omibench.load_results(tmp_path).slice("subject")
