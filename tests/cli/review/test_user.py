"""`omibench review user`: passwords come from standard input, never from an argument."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import MissingInputError, ParamsError
from omibench.review.app.database import LIVE, Database, check_password, read_hash
from review_app.builders import PASSWORD


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "reviewers.yaml").write_text(
        "- {name: ann, roles: [annotator]}\n- {name: eve, roles: [senior]}\n"
    )
    return tmp_path


def call(folder: Path, *words: str, text: str = "") -> str:
    """What a command prints; what it raises is raised."""
    result = CliRunner().invoke(app, ["review", "user", *words, "--review", str(folder)], text)
    if result.exception is not None:
        raise result.exception
    return result.output


@pytest.mark.slow
def test_a_person_gets_changes_and_loses_a_password(folder: Path) -> None:
    call(folder, "add", "ann", text=f"{PASSWORD}\n")
    listing = call(folder, "list")
    assert "ann: annotator; can log in" in listing
    assert "eve: senior; has no password" in listing
    call(folder, "password", "ann", text="another password\n")
    with Database(folder / LIVE).read() as connection:
        assert check_password(read_hash(connection, "ann"), "another password")
    call(folder, "remove", "ann")
    assert "ann: annotator; has no password" in call(folder, "list")


def test_mistakes_are_one_line(folder: Path) -> None:
    with pytest.raises(MissingInputError, match=r"'anna' is not in reviewers\.yaml"):
        call(folder, "add", "anna", text=PASSWORD)
    with pytest.raises(ParamsError, match="use 10 to 1000"):
        call(folder, "add", "ann", text="short")
    for verb in ("password", "remove"):
        with pytest.raises(MissingInputError, match="'ann' has no password"):
            call(folder, verb, "ann", text=PASSWORD)
    call(folder, "add", "ann", text=PASSWORD)
    with pytest.raises(ParamsError, match="ann has a password already; change it"):
        call(folder, "add", "ann", text=PASSWORD)


def test_a_password_whose_person_left_the_list_is_named(folder: Path) -> None:
    call(folder, "add", "eve", text=PASSWORD)
    (folder / "reviewers.yaml").write_text("- {name: ann, roles: [annotator]}\n")
    assert "eve: not in reviewers.yaml" in call(folder, "list")
    call(folder, "remove", "eve")
    assert "eve" not in call(folder, "list")


def test_a_password_typed_at_a_terminal_is_not_echoed(folder: Path) -> None:
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "omibench", "review", "user", "add", "ann", "--review", str(folder)],
        stdin=end, stdout=end, stderr=end, start_new_session=True,
    )  # fmt: skip
    os.close(end)
    screen = b""
    with suppress(OSError):  # the terminal is closed when the process ends
        for prompt in (b"Password of ann", b"Repeat for confirmation"):
            while prompt + b": " not in screen:
                screen += os.read(terminal, 1024)
            os.write(terminal, f"{PASSWORD}\n".encode())
        while data := os.read(terminal, 1024):
            screen += data
    assert process.wait(60) == 0, screen
    os.close(terminal)
    assert PASSWORD.encode() not in screen
    assert b"ann can log in" in screen
    with Database(folder / LIVE).read() as connection:
        assert check_password(read_hash(connection, "ann"), PASSWORD)
