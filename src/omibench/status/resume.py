"""Continues a study after its run was killed: its remains, and the command to continue."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from omibench.status.runs import Run

_WITH_A_VALUE = frozenset(
    {
        "--cores", "-c", "--jobs", "-j", "--configfile", "--config", "--profile",
        "--workflow-profile", "--resources", "--default-resources", "--set-resources",
        "--set-threads", "--groups", "--group-components", "--latency-wait", "--retries", "-T",
        "--rerun-triggers", "--until", "--omit-from", "--slurm-status-command",
        "--slurm-init-seconds-before-status-checks", "--max-jobs-per-second",
        "--max-status-checks-per-second", "--verbosity", "--quiet", "-q",
    }
)  # fmt: skip
_ALONE = frozenset(
    {
        "--keep-going", "-k", "--rerun-incomplete", "--ri", "--printshellcmds", "-p", "--notemp",
        "--slurm-no-account", "--", "--keep-incomplete", "--show-failed-logs", "--nocolor",
    }
)  # fmt: skip
INCOMPLETE = "--rerun-incomplete"
_AMOUNT = re.compile(r"[\w.:=/,+-]+")
_PAIR = re.compile(r"\w+=[\w.+-]*")


def _is_amount(value: str) -> bool:
    # Snakemake evaluates amounts of resources as Python.
    return _AMOUNT.fullmatch(value) is not None


def _is_pair(value: str) -> bool:
    # A structured value could be a model with an attacker's address.
    return _PAIR.fullmatch(value) is not None


def _is_file_of_yours(value: str) -> bool:
    path = Path(value)
    return path.name == value or (path.parts[:1] == ("studies",) and ".." not in path.parts)


def _is_profile_of_yours(value: str) -> bool:
    path = Path(value)
    if path.name == value:  # a profile of your account, unless a folder of that name exists here
        return not path.exists()
    return path.parts[:1] == ("profiles",) and ".." not in path.parts


_IS_SAFE: Mapping[str, Callable[[str], bool]] = {
    "--config": _is_pair,
    "--configfile": _is_file_of_yours,
    "--profile": _is_profile_of_yours,
    "--workflow-profile": _is_profile_of_yours,
} | dict.fromkeys(
    (
        "--resources", "--default-resources", "--set-resources", "--set-threads", "--groups",
        "--group-components", "--slurm-status-command", "--cores", "-c", "--jobs", "-j",
    ),
    _is_amount,
)  # fmt: skip


def find_living_run(runs: Sequence[Run]) -> Run | None:
    """Return the running run, if any."""
    return next((run for run in reversed(runs) if run.live), None)


def select_unfinished_runs(runs: Sequence[Run]) -> list[Run]:
    """Return the runs after the last completed one, oldest first."""
    last_done = max((n for n, run in enumerate(runs) if run.end == "done"), default=-1)
    return list(runs[last_done + 1 :])


def build_resume_command(run: Run, params: str, replaced: Sequence[str]) -> list[str]:
    """Return the command that continues a run as it was started.

    Notes of a run are a file, which can come with results of others: a command with options that
    set the location of code, or that no study needs, is rejected.
    """
    words = list(run.command[1:])
    if run.command[:1] != ("snakemake",) or not is_plain(words):
        file_options = [] if params == "params.yaml" else ["--configfile", params]
        pairs = ["--config", *replaced] if replaced else []
        words = ["--cores", "all", *file_options, *pairs]
    # In front: at the end it could be taken for a value.
    return ["snakemake", *([] if INCOMPLETE in words else [INCOMPLETE]), *words]


def is_plain(words: Sequence[str]) -> bool:
    """Return whether a command selects only resources, parameters and targets, and no code.

    Values can be code too: profiles refer to files of rules, amounts are evaluated, and parameters
    determine where your keys are sent. Only those of your checkout are repeated.
    """
    option = ""
    for word in words:
        value = word
        if word.startswith("-"):
            option, separator, value = word.partition("=")
            if option not in _WITH_A_VALUE | _ALONE:
                return False
            if not separator:
                continue
        if option in _IS_SAFE and not _IS_SAFE[option](value):
            return False
    return True
