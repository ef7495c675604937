"""Python processes that import nothing from their working folder.

`python -m` puts the current folder first on the import path, and so does an empty or relative
entry of PYTHONPATH. In a folder of papers or results this is untrusted: a `pymupdf.py` there
would run. Absolute entries of PYTHONPATH are the user's choice and are kept.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Final

SAFE_PATH = "PYTHONSAFEPATH"
_PATH = "PYTHONPATH"


def python_module(name: str, *words: str) -> list[str]:
    """Return the command that runs a module with this Python, without the current folder."""
    return [sys.executable, "-P", "-m", name, *words]


def locate_python() -> str:
    """Return the path of this Python, to be started where nothing of the current folder is."""
    return sys.executable


def isolate_env(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which processes import nothing from their folder."""
    entries = environment.get(_PATH, "").split(os.pathsep)
    absolute = [entry for entry in entries if os.path.isabs(entry)]  # noqa: PTH117 (text, not a path)
    variables = {name: value for name, value in environment.items() if name != _PATH}
    path = {_PATH: os.pathsep.join(absolute)} if absolute else {}
    return variables | path | {SAFE_PATH: "1"}


def run_isolated(
    command: Sequence[str], job: str, timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command of `python_module` in an isolated environment, with a job as its input.

    Raises TimeoutExpired after `timeout` seconds of wall time.
    """
    return subprocess.run(
        command, input=job, capture_output=True, encoding="utf-8", env=isolate_env(os.environ),
        timeout=timeout, check=False,
    )  # fmt: skip


def isolate(environment: MutableMapping[str, str]) -> None:
    """Change an environment, such as `os.environ`, to its isolated form, for all children."""
    isolated = isolate_env(environment)
    for name in set(environment) - set(isolated):
        del environment[name]
    environment.update(isolated)


# Questions to git about a repository that may be a stranger's.
#
# A repository's own configuration can name programs: monitors, filters, hooks, signature checkers
# and transports of missing objects. None of them runs here.

WAIT_S: Final = 60
_DISABLED: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "log.showSignature": "false",
    "protocol.allow": "never",
}
_FILTER_PROGRAMS: Final = ("clean", "smudge", "process")


def ask_git(folder: Path, *words: str) -> str:
    """Return what a reading command of git prints, without space around it.

    Args:
        folder: A folder of the repository.
        words: The command and its options, such as `rev-parse`, `HEAD`.

    Returns:
        Its output; empty if git is missing, fails or takes over a minute.
    """
    settings = _DISABLED | _disable_filters(folder)
    return _run_git(folder, settings, *words)


def _disable_filters(folder: Path) -> dict[str, str]:
    """Return the settings under which no filter that the configuration defines has a program."""
    asked = ("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    listed = _run_git(folder, _DISABLED, *asked)
    keys = [key.rpartition(".") for key in listed.split("\0")]
    filters = {name for name, _, last in keys if last.lower() in _FILTER_PROGRAMS}
    programs = {f"{name}.{last}": "" for name in filters for last in _FILTER_PROGRAMS}
    return programs | {f"{name}.required": "false" for name in filters}


def _run_git(folder: Path, settings: dict[str, str], *words: str) -> str:
    # As variables: a name may hold `=`, at which `-c` would split it.
    pairs = {
        f"GIT_CONFIG_{part}_{number}": text
        for number, pair in enumerate(settings.items())
        for part, text in zip(("KEY", "VALUE"), pair, strict=True)
    }
    environment = isolate_env(os.environ) | pairs | {
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }  # fmt: skip
    try:
        done = subprocess.run(
            ["git", "--no-pager", "-C", str(folder), *words],
            env=environment, capture_output=True, text=True, errors="replace", timeout=WAIT_S,
            check=True,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
