"""Pushing a store: what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.cli.store import describe_push
from omibench.errors import MissingInputError, OutputError


@pytest.mark.parametrize(
    ("said", "told_"),
    [
        ("Everything is up to date.\n", "everything was pushed already (7 files)"),
        ("3 files pushed\n", "3 files pushed; now `git add archive`, commit it, and push with git"),
        ("", "7 files pushed; now `git add archive`, commit it, and push with git"),
    ],
)
def test_a_push_says_whether_anything_was_new(said: str, told_: str) -> None:
    assert describe_push(said, 7, Path("archive")) == told_


def test_a_store_that_is_not_there_is_named(tmp_path: Path) -> None:
    words = ["--store", str(tmp_path / "none"), "--archive", str(tmp_path / "archive")]
    done = CliRunner().invoke(app, ["store", "push", *words])
    assert isinstance(done.exception, MissingInputError)
    assert "none: there is no store in this folder; give its folder with --store" in str(
        done.exception
    )


def test_a_store_holds_no_archive(tmp_path: Path) -> None:
    words = ["--store", str(tmp_path), "--archive", str(tmp_path / "archive")]
    done = CliRunner().invoke(app, ["store", "push", *words])
    assert isinstance(done.exception, OutputError)
    assert str(done.exception).startswith("--archive ")
