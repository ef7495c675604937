"""`omibench init`: what it prints, and its mistakes in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import OmibenchError, ParamsError


def init(*words: str | Path) -> str:
    done = CliRunner().invoke(app, ["init", *map(str, words)])
    if isinstance(done.exception, OmibenchError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_it_prints_the_next_commands(tmp_path: Path) -> None:
    lines = init(tmp_path / "my study", "--benchmark", "emma").splitlines()
    assert lines[0] == f"cd '{tmp_path}/my study'"
    commands = [line.partition("  #")[0].rstrip() for line in lines[1:]]
    assert commands == ["omibench plan", "omibench run --simulated", "omibench run"]
    assert lines[-1].endswith("# run the study on the data in data/emma")
    assert (tmp_path / "my study/params.yaml").is_file()


def test_papers_are_to_be_looked_through_first(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"")
    lines = init(tmp_path / "study", "--papers", tmp_path).splitlines()
    assert "sources.yaml" in lines[1]
    assert lines[-1] == "omibench run" + lines[-1].removeprefix("omibench run")
    assert (tmp_path / "study/sources.yaml").is_file()


@pytest.mark.parametrize("words", [[], ["--benchmark", "emma", "--study", "emma"]])
def test_one_kind_of_study_is_named(tmp_path: Path, words: list[str]) -> None:
    with pytest.raises(
        ParamsError,
        match="init: give exactly one of --papers DIR, --generator NAME, --benchmark NAME",
    ):
        init(tmp_path / "study", *words)
    assert not (tmp_path / "study").exists()
