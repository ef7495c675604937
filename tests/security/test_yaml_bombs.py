"""YAML of strangers: deep nesting and aliases of aliases end in one line, in little time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.security.hostile import bounded

from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.files.yaml_file import add_place, find_line, parse_yaml, read_mapping, read_yaml

ALIASES = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 12)
)
DEEP = ["[" * 200_000, "{a: " * 200_000, "- " * 100_000, "? " * 100_000]
BOMBS = [
    *((text, "line 1: is nested more than 50 deep") for text in DEEP),
    ("".join(" " * i + "a:\n" for i in range(2_000)), "line 51: is nested more than 50 deep"),
    (ALIASES, r"line \d+: aliases repeat more than 100,000 values"),
    (MERGES, r"line \d+: aliases repeat more than 100,000 values"),
    ("a: &a\n- *a", "the value contains itself"),
    ("a: &a {b: *a}", "the value contains itself"),
    ("b: &b " + "x" * 1_000_000 + "\na: [" + "*b, " * 1_000 + "]", "aliases repeat"),
    ("a: 1" + ":59" * 200_000, "line 1: the number is longer than 100 characters"),
    ("a: " + "9" * 5_000, "line 1: the number is longer than 100 characters"),
]


@pytest.mark.parametrize(("text", "why"), BOMBS)
def test_a_bomb_is_one_line_and_takes_no_time(text: str, why: str) -> None:
    with bounded(2.0):
        with pytest.raises(ValueError, match=why):
            parse_yaml(text)
        assert find_line(text, "a.b") in (None, 1)


def test_ordinary_aliases_are_read() -> None:
    text = "base: &base {a: [1, 2]}\n" + "".join(
        f"m{i}: {{<<: *base, b: *base}}\n" for i in range(500)
    )
    assert parse_yaml(text)["m7"] == {"a": [1, 2], "b": {"a": [1, 2]}}
    assert parse_yaml("[" * 50 + "]" * 50)


@pytest.mark.slow
def test_the_command_that_died_of_a_signal_ends_with_one_line(tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text("study: " + "[" * 200_000, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "omibench", "plan", "--params", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "params.yaml, line 1: is nested more than 50 deep" in " ".join(done.stderr.split())
    assert len(done.stderr.strip().splitlines()) <= 2


def test_a_pipe_and_a_sparse_file_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MissingInputError, match="it is a named pipe, not a file"):
        read_yaml(tmp_path / "pipe")
    with pytest.raises(ParamsError, match="it is a named pipe, not a file"):
        read_mapping(tmp_path / "pipe")
    with pytest.raises(MissingInputError, match="it is a named pipe, not a file"):
        add_place("x", [tmp_path / "pipe"])
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(FileFormatError, match=r"holes: has 1099\.5 GB"):
        read_yaml(tmp_path / "holes")
