"""`synthetic`: read like any benchmark, pictures and all; whatever rests on it says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.datasets.conftest import Read

from omibench.errors import ParamsError
from omibench.models.simulated.answers import load_oracle
from omibench.params.study import parse_study
from omibench.schemas.tables import FrozenManifest, read_typed_json
from omibench.stages.freeze import freeze_dataset


def test_pictures_stand_in_files_and_marks_have_theirs(read: Read) -> None:
    questions, answers, folder = read("synthetic", None, like="emma-mini")
    assert len(questions) == len(answers) == 400
    assert [q.id for q in questions] == [a.id for a in answers]
    for question, answer in zip(questions, answers, strict=True):
        assert len(question.image_order()) == len(question.images) == answer.n_images
        assert all((folder / figure.file).is_file() for figure in question.images)
        assert all("dots" in (figure.caption or "") for figure in question.images)
        assert question.source == "synthetic:emma-mini"
        assert answer.topic == answer.attributes["category"]


def test_the_oracle_knows_the_same_problems_and_golds(read: Read) -> None:
    _, answers, _ = read("synthetic", None, like="usnco-v", seed="5")
    oracle = load_oracle("synthetic:usnco-v:5")
    assert {a.id: a.answer for a in answers} == {i: row.answer for i, row in oracle.rows.items()}
    assert oracle.sha256 != load_oracle("synthetic:usnco-v").sha256


def test_a_frozen_dataset_and_its_card_say_that_it_is_made_up(tmp_path: Path) -> None:
    made = {"name": "synthetic", "like": "mathreal-testmini"}
    manifest = freeze_dataset(None, tmp_path / "a", parse_study({"benchmark": made}, "test"))
    assert manifest.synthetic == "synthetic:mathreal-testmini"
    assert manifest.problems == 480
    again = {"benchmark": {"name": "frozen"}, "data": str(tmp_path / "a")}
    freeze_dataset(None, tmp_path / "b", parse_study(again, "test"))
    assert (
        read_typed_json(tmp_path / "b/manifest.json", FrozenManifest).synthetic
        == manifest.synthetic
    )
    card = (tmp_path / "b/README.md").read_text("utf-8")
    assert "**SIMULATED**: the problems are invented (`synthetic:mathreal-testmini`)" in card


def test_an_oracle_of_other_problems_is_an_error() -> None:
    model = {"provider": "simulated", "oracle": "synthetic:emma"}
    made = {"name": "synthetic", "like": "omibench"}
    with pytest.raises(ParamsError, match=r"models\.a\.oracle: is 'synthetic:emma'"):
        parse_study({"benchmark": made, "models": {"a": model}}, "test")


def test_mathreals_pairs_are_one_problem_with_two_pictures(read: Read) -> None:
    questions, answers, _ = read("synthetic", None, like="mathreal-testmini", pictures="both")
    sides = [answer.attributes["pair"] for answer in answers]
    assert sides == ["real", "clean"] * (len(sides) // 2)
    assert 140 < len(sides) / 2 < 210, "175 of the 480 problems of testmini have a clean picture"
    for real, clean in zip(questions[::2], questions[1::2], strict=True):
        assert clean.id == f"{real.id}-clean"
        assert clean.group == real.group == real.id
        assert clean.images[0].sha256 != real.images[0].sha256
    oracle = load_oracle("synthetic:mathreal-testmini")
    assert all(oracle.rows[answer.id].answer == answer.answer for answer in answers)


def test_mathreals_clean_pictures_alone_keep_the_ids(read: Read) -> None:
    pairs, _, _ = read("synthetic", None, like="mathreal-testmini", pictures="both")
    questions, answers, _ = read("synthetic", None, like="mathreal-testmini", pictures="clean")
    assert [q.id for q in questions] == [q.id for q in pairs[::2]]
    assert {answer.attributes["pair"] for answer in answers} == {"clean"}
