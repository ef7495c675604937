"""The parameters that a `snakemake` command names, looked at before Snakemake reads them.

Of a file that it cannot read Snakemake names neither the file nor the line, or shows a traceback.
The profiles call this: they are the only code of ours that runs before.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omibench.cli.ending import exit_with_error
from omibench.errors import OmibenchError, ParamsError
from omibench.files.yaml_file import read_mapping


def check_command_line(words: Sequence[str] | None = None) -> None:
    """End with one line where `--configfile` or `--config` gives what are no parameters."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="*", action="extend", default=[])
    parser.add_argument("--config", "-C", nargs="*", action="extend", default=[])
    options, _ = parser.parse_known_args(sys.argv[1:] if words is None else words)
    for file in options.configfile:
        check_params_file(file)
    for pair in options.config:
        if "=" not in pair:
            exit_with_error(
                ParamsError(f"--config {pair}: needs the form KEY=VALUE, such as data=DIR")
            )


def read_allowed_rules(words: Sequence[str]) -> list[str]:
    """The rules that `--allowed-rules` names on a command line; none where all are allowed."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--allowed-rules", nargs="+", action="extend", default=[])
    options, _ = parser.parse_known_args(words[1:])
    return list(options.allowed_rules)


def check_params_file(file: str, hint: str = "") -> None:
    """End with one line where the file is no file of parameters, and a hint where it is missing.

    Snakefiles that `omibench init` wrote import it by this name.
    """
    if hint and not Path(file).exists():
        exit_with_error(ParamsError(f"{file}: the file does not exist{hint}"))
    try:
        read_mapping(file)
    except OmibenchError as error:
        exit_with_error(error)


def explain_directory(workflow: Any) -> str:
    """What to do about a file that is missing under `--directory`; empty without that option."""
    if not workflow.overwrite_workdir:
        return ""
    return (
        f"; with --directory all paths are relative to {Path.cwd()}: copy or link there what the "
        f"study needs (of the sample study: params.yaml, sample, prompts in {workflow.basedir})"
    )
