"""The verbs around scoring on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from omibench.cli.main import app
from omibench.errors import MissingInputError, OmibenchError, ParamsError


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    file = tmp_path / "answers.jsonl"
    row = {"id": "1", "prediction": r"\boxed{0.5}", "gold": [r"\frac{1}{2}"],
           "answer_type": "open", "choices": None}  # fmt: skip
    file.write_text(json.dumps(row) + "\n")
    return file


def test_explain_prints_and_writes_nothing(answers: Path) -> None:
    done = CliRunner().invoke(app, ["score", str(answers), "--explain", "1", "--rules", "robust"])
    assert done.exit_code == 0
    assert "robust, version" in done.output
    assert ": right" in done.output
    assert list(answers.parent.iterdir()) == [answers]


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--explain", "2"], MissingInputError, "--explain '2': no response has this id"),
        (["--rules", "robust"], ParamsError, "score: --out is missing"),
    ],
)
def test_mistakes_are_one_line(
    answers: Path, words: list[str], error: type[OmibenchError], message: str
) -> None:
    done = CliRunner().invoke(app, ["score", str(answers), *words])
    assert isinstance(done.exception, error)
    assert message in str(done.exception)


def test_certify_and_aggregate_name_what_they_lack(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    done = CliRunner().invoke(
        app, ["certify", str(tmp_path / "labels.csv"), "--out", out, "--params", "{}"]
    )
    assert isinstance(done.exception, MissingInputError)
    done = CliRunner().invoke(
        app, ["aggregate", "--model", "m", "--setting", "s", "--out", f"{out}.parquet",
              "--params", "{}"],
    )  # fmt: skip
    assert isinstance(done.exception, ParamsError)
    assert "--setting 's' is not defined" in str(done.exception)
