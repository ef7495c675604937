"""End a command early: one line on standard error, and the exit code."""

from __future__ import annotations

import sys
import traceback
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from omibench.errors import OmibenchError, ParamsError
from omibench.files.yaml_file import read_mapping
from omibench.models.api.stop import STOPPED, StopSignal, say_safely, stop_requested
from omibench.params.pairs import split_pairs
from omibench.text.terminal import say_lines

STOPPED_BY_USER = 130


def tell(error: OmibenchError) -> None:
    """Print the error on standard error."""
    say_lines(f"omibench: {error}", err=True)


def exit_with_error(error: OmibenchError) -> NoReturn:
    """Print the error without a traceback and exit; the Snakefile uses it too."""
    tell(error)
    sys.exit(error.exit_code)


def end_with_defect() -> NoReturn:
    """Print the traceback of a bug and exit with 1, as Python does."""
    say_lines(traceback.format_exc(), err=True)
    sys.exit(1)


def end_stopped() -> NoReturn:
    """Report that a signal stopped the command and exit: 130, or 143 for SIGTERM."""
    number = stop_requested()
    say_safely(STOPPED)
    sys.exit(STOPPED_BY_USER if number is None else StopSignal(number).code)


# Check the parameter files of a `snakemake` command before Snakemake reads them.
#
# Snakemake reports a file that it cannot read without its name or line, or with a traceback. The
# profiles call this module because no other code of omibench runs that early.


def check_command_line(words: Sequence[str] | None = None) -> None:
    """Exit with one line if `--configfile` or `--config` does not give valid parameters."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="*", action="extend", default=[])
    parser.add_argument("--config", "-C", nargs="*", action="extend", default=[])
    options, _ = parser.parse_known_args(sys.argv[1:] if words is None else words)
    for file in options.configfile:
        check_params_file(file)
    try:
        split_pairs(options.config, "--config")
    except OmibenchError as error:
        exit_with_error(error)


def read_allowed_rules(words: Sequence[str]) -> list[str]:
    """Return the rules that `--allowed-rules` lists; empty if all are allowed."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--allowed-rules", nargs="+", action="extend", default=[])
    options, _ = parser.parse_known_args(words[1:])
    return list(options.allowed_rules)


def check_params_file(file: str, hint: str = "") -> None:
    """Exit with one line if the file is not a parameter file, with a hint if it is missing.

    Snakefiles that `omibench init` wrote import this name.
    """
    if hint and not Path(file).exists():
        exit_with_error(ParamsError(f"{file}: the file does not exist{hint}"))
    try:
        read_mapping(file)
    except OmibenchError as error:
        exit_with_error(error)


def explain_directory(workflow: Any) -> str:
    """Return the remedy for a file that is missing under `--directory`; empty without it."""
    if not workflow.overwrite_workdir:
        return ""
    return (
        f"; with --directory all paths are relative to {Path.cwd()}: copy or link the "
        f"study's files there (sample study: params.yaml, sample, prompts in {workflow.basedir})"
    )
