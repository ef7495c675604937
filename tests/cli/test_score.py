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
    ("words", "books"),
    [
        ([], ["robust"]),
        (["--rules", "emma"], ["emma"]),
        (["--rules", "omibench,robust"], ["omibench", "robust"]),
        (["--params", "p.yaml"], ["emma", "omibench"]),
        (["--params", "p.yaml", "--rules", "robust"], ["robust"]),
    ],
)
def test_explain_opens_with_the_rule_books_that_are_named(
    answers: Path, words: list[str], books: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(answers.parent)
    Path("p.yaml").write_text("score: {rules: [omibench, emma]}\nanalyze: {main_rules: emma}\n")
    done = CliRunner().invoke(app, ["score", str(answers), "--explain", "1", *words])
    heads = [line.partition(",")[0] for line in done.output.splitlines() if ", version" in line]
    assert heads == books


def test_rules_of_the_command_line_stand_beside_a_params_file_with_others(answers: Path) -> None:
    params, out = answers.with_name("p.yaml"), answers.with_name("o.parquet")
    params.write_text("score: {rules: [emma]}\nanalyze: {main_rules: emma}\n")
    words = ["score", str(answers), "--rules", "robust", "--params", str(params), "--out", str(out)]
    done = CliRunner().invoke(app, [*words, "--no-cache"])
    assert done.exit_code == 0, done.exception
    assert out.is_file()


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--explain", "2"], MissingInputError, "--explain '2': no response has this id"),
        (["--rules", "robust"], ParamsError, "score: --out is missing"),
        (["--explain", "1", "--out", "o.parquet"], ParamsError, "--out o.parquet goes not with"),
        (["--explain", "1", "--judge", "m"], ParamsError, "--judge m goes not with --explain"),
        (["--explain", "1", "--rules", "emma,robst"], OmibenchError, "no rule book 'robst'"),
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
