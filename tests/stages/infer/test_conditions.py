"""Conditions of pictures from the frozen dataset to the cell's file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest
from tests.stages.infer.pictured import pictured_questions, pictured_study

from omibench.errors import MissingInputError, ModelError
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.tables import ResponseRow, read_parquet
from omibench.stages.infer import infer_cell
from omibench.store.store import Store, partition_folders


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return pictured_questions(tmp_path)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return pictured_study(tmp_path)


def run(questions: Path, study: Study, model: str, setting: str) -> pl.DataFrame:
    out = questions.parents[1] / "infer" / model / f"{setting}.parquet"
    infer_cell(questions, out, study, Cell(model, setting))
    return read_parquet(out, ResponseRow)


def test_captions_are_asked_for_once_for_all_samples_models_and_settings(
    questions: Path, study: Study, tmp_path: Path
) -> None:
    frames = [run(questions, study, m, s) for m in ("a", "b") for s in ("words", "again")]
    assert [frame.height for frame in frames] == [6, 3, 6, 3]
    keys = {tuple(steps) for frame in frames for steps in frame["steps"].to_list()}
    assert sorted(map(len, keys)) == [2, 2, 2], "one caption a picture, the same wherever"
    (folder,) = [f for f in partition_folders(tmp_path / "store") if "eyes" in f.name]
    assert sum(line.count(b'"key":') for f in folder.glob("*.jsonl") for line in f.open("rb")) == 6
    with Store(tmp_path / "store") as store:
        partition = store.open_partition(json.loads((folder / "model.json").read_text()))
        told = {response.text for key in partition if (response := partition.get(key))}
    assert told == {f"{what} {n}" for n in range(3) for what in ("cart", "road")}


def test_made_pictures_are_made_once_and_kept_for_a_look(questions: Path, study: Study) -> None:
    folder = questions.parents[1] / "pictures"
    for setting, name, count in (("joined", "composite-unlabelled", 3), ("worse", "blur-1", 6)):
        assert run(questions, study, "a", setting)["outcome"].unique().to_list() == ["answered"]
        before = {path: path.stat().st_mtime_ns for path in (folder / name).iterdir()}
        assert len(before) == count
        run(questions, study, "b", setting)
        assert {path: path.stat().st_mtime_ns for path in (folder / name).iterdir()} == before
    kept = {p.name for p in (questions.parents[2] / "store" / "images").rglob("*") if p.is_file()}
    made = {hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*.png")}
    assert made == kept, "what was sent lies in the store"


@pytest.mark.parametrize("setting", ["joined", "worse", "words"])
def test_absent_pictures_are_refused_before_anything_is_sent(
    questions: Path, study: Study, setting: str
) -> None:
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    rows[1]["images"][1] = {"file": "images/gone.png", "sha256": ""}
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(
        MissingInputError, match=r"are missing, the first is .*gone\.png of problem"
    ):
        run(questions, study, "a", setting)


@pytest.mark.parametrize("setting", ["joined", "worse"])
def test_a_picture_that_cannot_be_read_is_named(
    questions: Path, study: Study, setting: str
) -> None:
    (questions.parent / "images" / "0-1.png").write_bytes(b"no picture")
    with pytest.raises(ModelError, match=r"0-1\.png: its content differs from the dataset"):
        run(questions, study, "a", setting)
