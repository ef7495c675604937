"""A benchmark without its pictures: what needs none works, and nothing else is sent."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from omibench.errors import MissingInputError
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.stages.freeze import freeze_dataset
from omibench.stages.infer import infer_cell


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Two problems whose texts are the same and whose pictures are not there."""
    data = tmp_path / "own"
    data.mkdir()
    (data / "problems.csv").write_text(
        "id,question,answer,images\na,See [IMAGE0],3,one.png\nb,See [IMAGE0],4,two.png\n", "utf-8"
    )
    rows = [{"id": name, "answer": ["3"]} for name in "ab"]
    (tmp_path / "oracle.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    params = {
        "study": {"name": "own", "store": str(tmp_path / "store")},
        "data": str(data), "benchmark": {"name": "folder"},
        "models": {"m": {"provider": "simulated", "oracle": str(tmp_path / "oracle.jsonl")}},
        "settings": {"all": {"prompt": "cot"}, "blind": {"prompt": "cot", "images": "none"}},
        "infer": {"models": ["m"], "settings": ["all", "blind"]},
    }  # fmt: skip
    study = parse_study(params, "test")
    freeze_dataset(None, tmp_path / "freeze", study)
    return study


def test_nothing_is_sent_without_a_picture(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "all.parquet"
    with pytest.raises(MissingInputError, match=r"2 pictures .* the first is one\.png .*'a'"):
        infer_cell(tmp_path / "freeze/questions.jsonl", out, study, Cell("m", "all"))
    assert not out.exists()


def test_a_blind_setting_needs_none(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "blind.parquet"
    infer_cell(tmp_path / "freeze/questions.jsonl", out, study, Cell("m", "blind"))
    assert pl.read_parquet(out)["id"].to_list() == ["a", "b"]


def test_the_card_counts_pictures_by_name(study: Study, tmp_path: Path) -> None:
    assert study.benchmark.name == "folder"
    card = (tmp_path / "freeze/README.md").read_text("utf-8")
    assert "2 problems with 0 distinct images" in card
    assert "| 1 | 2 |" in card
