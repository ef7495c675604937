"""`omibench run`: which command of Snakemake it is, and how it ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.cli import run as processes
from omibench.errors import MissingExtraError, MissingInputError, ParamsError, SomeFailedError

PARAMS = "study: {name: s, results: out}\n"
WITH_A_CELL = """
study: {name: s, results: out}
benchmark: {name: emma}
models: {m: {provider: openai, id: m}}
settings: {cot: {}}
infer: {models: [m], settings: [cot]}
"""


@pytest.fixture
def folder(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(own_folder)
    (own_folder / "Snakefile").write_text("")
    (own_folder / "params.yaml").write_text(PARAMS)
    return own_folder


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were run; each ends with the exit code 0."""
    collected: list[list[str]] = []

    def note(*words: str, **_: object) -> int:
        collected.append(list(words))
        return 0

    monkeypatch.setattr(processes, "run_module", note)
    return collected


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["run", *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "command"),
    [
        ([], "--rerun-incomplete --keep-going --cores all"),
        (["-c", "2", "-n"], "--rerun-incomplete --keep-going --cores 2 --dry-run"),
        (["--set", "data=d"], "--config data=d --rerun-incomplete --keep-going --cores all"),
        (
            ["--", "--keep-going", "infer_all"],
            "--rerun-incomplete --keep-going --cores all --keep-going infer_all",
        ),
        (["freeze_all"], "--rerun-incomplete --keep-going --cores all freeze_all"),
    ],
)
def test_the_command_of_snakemake(
    commands: list[list[str]], words: list[str], command: str
) -> None:
    run(*words)
    assert commands == [["snakemake", *command.split()]]


def test_a_file_of_parameters_and_a_rehearsal(folder: Path, commands: list[list[str]]) -> None:
    (folder / "my own.yaml").write_text(WITH_A_CELL)
    (folder / "out-simulated/analyze").mkdir(parents=True)
    (folder / "out-simulated/analyze/report.html").write_text("")
    said = run("--params", "my own.yaml", "--simulated")
    options = ["--configfile", "my own.yaml", "--config", "simulated=true"]
    options += ["--rerun-incomplete", "--keep-going", "--cores", "all"]
    assert commands == [["snakemake", *options]]
    assert said == "report: out-simulated/analyze/report.html\n"


@pytest.mark.usefixtures("commands")
def test_the_last_line_says_where_the_dataset_is(folder: Path) -> None:
    (folder / "out/freeze").mkdir(parents=True)
    (folder / "out/freeze/manifest.json").write_text("{}")
    assert run() == "dataset: out/freeze/\n"
    assert run("-n") == ""


@pytest.mark.usefixtures("folder")
def test_what_fails_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "run_module", lambda *_, **__: 1)
    with pytest.raises(SomeFailedError, match="run: snakemake ended with exit code 1; `omibench"):
        run()


@pytest.mark.usefixtures("commands")
def test_mistakes_are_told_before_snakemake_starts(
    folder: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ParamsError, match="run: --params: give a file, not JSON text"):
        run("--params", "{}")
    (folder / "params.yaml").write_text("studdy: {}\n")
    with pytest.raises(ParamsError, match="studdy"):
        run()
    (folder / "Snakefile").unlink()
    with pytest.raises(MissingInputError, match=r"has no Snakefile; .*omibench init FOLDER"):
        run()
    monkeypatch.setitem(sys.modules, "snakemake", None)
    with pytest.raises(MissingExtraError, match=r"omibench run needs snakemake, .*\[workflow\]"):
        run()
    assert commands == []


def test_the_exit_code_of_a_program_is_returned(folder: Path) -> None:
    (folder / "json.py").write_text("raise SystemExit(99)\n")  # not imported from here
    assert processes.run_module("json.tool", "params.yaml") == 1
    (folder / "ok.json").write_text("{}")
    assert processes.run_module("json.tool", "ok.json", "out.json") == 0
