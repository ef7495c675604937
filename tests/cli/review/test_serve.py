"""`omibench review serve`: what it refuses, and what it says when it starts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import MissingInputError, OmibenchError, ParamsError
from review_app.builders import PEOPLE, make_task, write_tasks


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--host", "0.0.0.0"], ParamsError, "requires TLS"),
        (["--behind-tls", "https://review.example"], ParamsError, "--secret-file"),
        (["--demo", "--host", "0.0.0.0"], ParamsError, "requires TLS"),
        (["--secret-file", "absent"], MissingInputError, "absent: cannot be read"),
        (["--review", "absent"], MissingInputError, r"absent.tasks\.jsonl"),
        ([], MissingInputError, "params.yaml does not exist"),
    ],
)
def test_what_it_needs_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    error: type[OmibenchError],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["review", "serve", *words])
    assert isinstance(result.exception, error)
    assert len(str(result.exception).splitlines()) == 1
    assert result.exception.args
    with pytest.raises(error, match=message):
        raise result.exception


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_and_ends_without_an_error(tmp_path: Path, number: int) -> None:
    write_tasks(tmp_path, [make_task(1)])
    (tmp_path / "reviewers.yaml").write_text(json.dumps(PEOPLE))
    words = ["review", "serve", "--review", str(tmp_path), "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "omibench", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        assert process.stdout is not None
        assert "http://127.0.0.1:" in process.stdout.readline()
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert errors.splitlines() == [
        "4 of 4 reviewers have no password yet, such as abe; "
        "give them one with `omibench review user add NAME`"
    ]
