"""Programs that a command runs in the foreground."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from omibench.errors import OmibenchError
from omibench.files.isolated import isolate_env, python_module
from omibench.models.traffic.stop import stoppable


def run_module(name: str, *words: str) -> int:
    """Run a Python module as a program until it ends; it stops with this process.

    Args:
        name: Module, such as `"snakemake"`. Nothing is imported from the current folder.
        *words: Arguments of the program.

    Returns:
        The exit code.
    """
    command = python_module(name, *words)
    with (
        subprocess.Popen(command, env=isolate_env(os.environ)) as child,
        stoppable(lambda at_once: child.send_signal(signal.SIGINT if at_once else signal.SIGTERM)),
    ):
        return child.wait()


def run_alone(
    name: str, *words: str, results: str, say: Callable[[str], object], folder: Path | None = None
) -> int:
    """Run a program that builds a study, as the only one in the study's folder.

    Args:
        name: Module, as for `run_module`.
        *words: Arguments of the program.
        results: Results folder of the study, as in its parameters.
        say: Called with a line about a dead run whose lock is removed.
        folder: Folder of the study, by default the current one.

    Returns:
        The exit code.

    Raises:
        OmibenchError: If another run of the study is active; see `status.owners.take_folder`.
    """
    from omibench.status.owners import read_refusal, take_folder

    with take_folder(results, say, folder) as claim:
        code = run_module(name, *words)
        if code and (reason := read_refusal(claim)) is not None:
            raise OmibenchError(reason)
    return code
