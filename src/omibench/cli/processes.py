"""Programs that a command runs in the foreground."""

from __future__ import annotations

import os
import signal
import subprocess

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
