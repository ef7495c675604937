"""`omibench` inside of the tests' process: one of its own imports for most of a second."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import typer.main
import typer.testing

from omibench.cli.main import main, make_app

app = make_app()
"""Every command, for the runner of typer's tests."""
# The runner would build all commands again for each call of one.
vars(typer.testing)["_get_command"] = functools.cache(typer.main.get_command)


class Ended(NamedTuple):
    """What a command left: its exit code, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def call_main(*words: str | Path, cwd: Path | None = None) -> Ended:
    """Run `omibench` with these words; what it logs is on standard error, as in a process."""
    out, err = StringIO(), StringIO()
    with (
        chdir(cwd or Path()),
        patch.object(sys, "argv", ["omibench", *map(str, words)]),
        _log_as_a_process_does(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return Ended(code, out.getvalue(), err.getvalue())


@contextmanager
def _log_as_a_process_does() -> Iterator[None]:
    """Without the handlers of pytest, which keep warnings from standard error."""
    root = logging.getLogger()
    handlers, root.handlers = root.handlers, []
    try:
        yield
    finally:
        root.handlers = handlers
