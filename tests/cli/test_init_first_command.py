"""The first command that `omibench init` prints works in the folder that it wrote."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from command_line import call_main


@pytest.mark.parametrize(
    ("made", "first"),
    [
        (["--benchmark", "usnco-v"], "omibench plan"),
        pytest.param(
            ["--study", "emma_recorded"], "omibench run --simulated", marks=pytest.mark.slow
        ),
    ],
)
def test_the_first_command_needs_neither_keys_nor_data(
    made: list[str], first: str, tmp_path: Path
) -> None:
    printed = call_main("init", tmp_path / "s", *made).stdout.splitlines()
    command = printed[1].partition("#")[0].strip()
    assert command == first
    words = shlex.split(command)[1:]
    if words[0] == "run":
        words += ["--dry-run"]
    done = call_main(*words, cwd=tmp_path / "s")
    assert done.returncode == 0, done.stderr


def test_a_study_without_its_recorded_responses_says_where_to_name_them(tmp_path: Path) -> None:
    printed = call_main("init", tmp_path / "s", "--study", "emma_recorded").stdout
    assert "params.yaml" in printed.splitlines()[2]
    assert "set `data` to the folder of the recorded responses" in printed.splitlines()[2]


def test_data_that_are_missing_are_named(tmp_path: Path) -> None:
    plan = call_main("init", tmp_path / "s", "--benchmark", "emma").stdout.splitlines()[1]
    assert plan.endswith("sends nothing; over generated problems until data/emma is there")
    (tmp_path / "t/data/emma").mkdir(parents=True)
    plan = call_main("init", tmp_path / "t", "--benchmark", "emma").stdout.splitlines()[1]
    assert plan.endswith("sends nothing")
