"""Responses drawn for people to label."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tests.stages.analyze.conftest import Folders, make_study
from typer.testing import CliRunner

from command_line import app
from omibench.errors import MissingInputError
from omibench.schemas.tables import ResponseRow, read_parquet
from omibench.stages.certify.labels import hash_text, read_labels
from omibench.stages.certify.sampling import SHEET_FILE, LabelDraw, draw_sheet


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return make_study(tmp_path_factory.mktemp("made"))


def draw(folders: Folders, out: Path, drawing: LabelDraw) -> list[dict[str, str]]:
    rows = draw_sheet(folders.freeze.parent, out, folders.study, drawing)
    with (out / SHEET_FILE).open(newline="", encoding="utf-8") as file:
        sheet = list(csv.DictReader(file))
    assert len(sheet) == rows
    return sheet


def test_so_many_of_each_model_are_drawn_and_no_verdict_is_told(
    made: Folders, tmp_path: Path
) -> None:
    sheet = draw(made, tmp_path, LabelDraw(10))
    assert [row["model"] for row in sheet].count("sim-weak") == 10
    assert len(sheet) == 30
    assert list(sheet[0]) == [
        "id", "model", "setting", "index", "question", "gold", "response", "response_sha256",
        "label",
    ]  # fmt: skip
    rows = read_parquet(made.infer / "sim-weak/cot.parquet", ResponseRow).rows(named=True)
    texts = {row["id"]: row["text"] for row in rows}
    for row in sheet:
        if (row["model"], row["setting"]) == ("sim-weak", "cot"):
            assert row["response_sha256"] == hash_text(texts[row["id"]])
    assert all(row["response"].strip() for row in sheet)


def test_a_larger_draw_holds_a_smaller_one(made: Folders, tmp_path: Path) -> None:
    few = draw(made, tmp_path / "few", LabelDraw(5, ["sim-weak"], ["cot"]))
    many = draw(made, tmp_path / "many", LabelDraw(15, ["sim-weak"], ["cot"]))
    assert {row["id"] for row in few} < {row["id"] for row in many}
    every = draw(made, tmp_path / "every", LabelDraw(1000, ["sim-weak"], ["cot"]))
    assert 15 < len(every) <= 28, "all that hold text"


def test_the_sheet_is_a_file_of_labels_once_some_are_filled_in(
    made: Folders, tmp_path: Path
) -> None:
    sheet = draw(made, tmp_path, LabelDraw(3, ["sim-weak"]))
    sheet[1]["label"] = "right"
    with (tmp_path / SHEET_FILE).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)
    (row,) = read_labels(tmp_path / SHEET_FILE)
    assert (row.id, row.label, row.response_sha256) == (
        sheet[1]["id"], 1.0, sheet[1]["response_sha256"],
    )  # fmt: skip


def test_nothing_to_draw_from_is_one_line(made: Folders, tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="no response with text of these models"):
        draw(made, tmp_path, LabelDraw(3, ["judge"]))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--draw", "3", "--model", "nobody"], "--model 'nobody' is not defined"),
        (["labels.csv", "--draw", "3"], "give either a file of labels, or --draw N"),
        ([], "give either a file of labels, or --draw N"),
    ],
)
def test_options_that_do_not_fit_are_one_line(tmp_path: Path, words: list[str], says: str) -> None:
    run = CliRunner().invoke(app, ["certify", *words, "--out", str(tmp_path), "--params", "{}"])
    assert run.exit_code
    assert says in " ".join(str(run.exception or run.output).split())
