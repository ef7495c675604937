"""One cell: rows in the order of the questions, each under its key, bought once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.stages.infer.conftest import Make

from omibench.errors import MissingInputError, ModelError
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.tables import ResponseRow, read_parquet
from omibench.stages.infer import infer_cell, list_requests


def rows(questions: Path, out: Path, study: Study, model: str, setting: str) -> pl.DataFrame:
    count = infer_cell(questions, out, study, Cell(model, setting))
    frame = read_parquet(out, ResponseRow)
    assert frame.height == count
    return frame


def segments(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "store").glob("*/*.jsonl"))


def test_a_cell_is_one_row_a_sample_in_order(tmp_path: Path, questions: Path, study: Make) -> None:
    frame = rows(questions, tmp_path / "many.parquet", study(), "sim", "many")
    assert frame["id"].to_list() == [f"p{n}" for n in range(3) for _ in range(3)]
    assert frame["index"].to_list() == [0, 1, 2] * 3
    assert frame["key"].n_unique() == 9
    assert frame["simulated"].all()
    assert frame["text"].str.contains("boxed").all()


def test_a_second_run_buys_nothing_and_gives_the_same_file(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    one = rows(questions, tmp_path / "one.parquet", study(), "sim", "cot")
    before = segments(tmp_path)
    other = rows(questions, tmp_path / "other.parquet", study(), "sim", "cot")
    assert other.equals(one)
    assert segments(tmp_path) == before
    assert len(before) == 1


def test_images_are_found_beside_the_questions(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    (questions.parent / "images" / "1-0.png").unlink()
    with pytest.raises(MissingInputError, match=r"images/1-0\.png: the image does not exist"):
        infer_cell(questions, tmp_path / "out.parquet", study(), Cell("sim", "cot"))
    assert not (tmp_path / "out.parquet").exists()


def test_without_a_frozen_dataset_the_command_is_named(tmp_path: Path, study: Make) -> None:
    with pytest.raises(
        MissingInputError, match="not frozen yet; run `snakemake --cores all freeze_all`"
    ):
        infer_cell(tmp_path / "none.jsonl", tmp_path / "o.parquet", study(), Cell("sim", "cot"))


def recorded(study: Make, **more: Any) -> Study:
    block = {"provider": "recorded", "responses": {"cot": ["gpt.jsonl"]}, **more}
    return study(models={"gpt": block}, infer={"models": ["gpt"], "settings": ["cot"]})


def test_a_recorded_model_that_lacks_an_item_is_an_error(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    message = r"'gpt': 1 of 3 .* are missing, the first is 'p2' .*`partial: true`"
    with pytest.raises(ModelError, match=message):
        infer_cell(questions, tmp_path / "o.parquet", recorded(study), Cell("gpt", "cot"))


def test_a_partial_model_is_evaluated_on_what_it_has(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    partial = recorded(study, partial=True)
    frame = rows(questions, tmp_path / "o.parquet", partial, "gpt", "cot")
    assert frame.select("id", "text").rows() == [("p0", "It is 0."), ("p1", "It is 1.")]
    assert not frame["simulated"].any()


def test_a_partial_model_that_has_nothing_is_an_error(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    (tmp_path / "gpt.jsonl").write_text('{"pid": "elsewhere", "response": "x"}\n')
    with pytest.raises(ModelError, match=r"none of the 3 problems .* 'elsewhere' was recorded"):
        list_requests(questions, recorded(study, partial=True), Cell("gpt", "cot"))
