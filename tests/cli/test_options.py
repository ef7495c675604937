"""Shared options: the same meaning in every command, and folders from the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer

from command_line import app
from omibench.cli.options import find_results, find_store, read_study
from omibench.errors import ParamsError
from omibench.params.study import parse_study_file

STUDY = "study: {results: out/results, store: shared/store}\n"


def list_parameters(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Each parameter of each command, with the command's name."""
    if isinstance(command, click.Group) or hasattr(command, "commands"):
        for name, child in command.commands.items():
            yield from list_parameters(child, (*path, name))
        return
    for parameter in command.params:
        yield " ".join(path), parameter


PARAMETERS = list(list_parameters(typer.main.get_command(app)))


@pytest.mark.parametrize("option", ["--results", "--store", "--json", "--set", "--limit", "--ids"])
def test_an_option_has_one_meaning(option: str) -> None:
    own_meaning = {("review assign", "--limit"), ("review assign", "--results")}
    helps = {
        parameter.help
        for verb, parameter in PARAMETERS
        if option in parameter.opts and (verb, option) not in own_meaning
    }
    assert len(helps) == 1, helps


def test_results_are_an_argument_or_an_option_with_the_same_help() -> None:
    helps = {
        parameter.help
        for verb, parameter in PARAMETERS
        if parameter.name == "results" and verb != "review assign"
    }
    assert len(helps) == 1, helps


def test_folders_come_from_the_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (find_results(None), find_store(None)) == (Path("results"), Path("store"))
    Path("params.yaml").write_text(STUDY)
    assert (find_results(None), find_store(None)) == (Path("out/results"), Path("shared/store"))
    assert find_results(Path("mine")) == Path("mine")
    assert find_store(Path("mine")) == Path("mine")


def test_a_study_or_its_file_comes_before_params_yaml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(STUDY)
    other = tmp_path / "other.yaml"
    other.write_text("study: {results: other/results}\n")
    assert find_results(None, str(other)) == Path("other/results")
    assert find_results(None, parse_study_file(str(other))) == Path("other/results")


def test_a_broken_params_yaml_is_read_only_if_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text("study: {resluts: here}\n")
    assert find_results(Path("results")) == Path("results")
    with pytest.raises(ParamsError, match="resluts"):
        find_results(None)


def test_set_changes_keys_of_a_block_and_keeps_its_others(tmp_path: Path) -> None:
    params = tmp_path / "params.yaml"
    params.write_text("study: {name: a, seed: 1}\nreview: {folder: r}\n")
    study = read_study(str(params), ["study={seed: 2}", "review={folder: null}", "data=d"])
    assert (study.study.name, study.study.seed) == ("a", 2)
    assert (study.review.folder, study.data) == (None, "d")
    with pytest.raises(ParamsError, match=r"the command line: study\.sed: unknown key"):
        read_study(str(params), ["study={sed: 2}"])
    params.write_text("study:\n  naem: a\n")
    with pytest.raises(ParamsError, match=r"params\.yaml, line 2: study\.naem: unknown key"):
        read_study(str(params), ["study={seed: 2}"])
    assert read_study('{"study": {"seed": 1}}', ["study={seed: 2}"]).study.seed == 2
