"""The parameters that a `snakemake` command names, looked at before Snakemake reads them.

Of a file that it cannot read Snakemake names neither the file nor the line, or shows a traceback.
The profiles call this: they are the only code of ours that runs before.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from omibench.cli.ending import end_with
from omibench.errors import OmibenchError, ParamsError
from omibench.yaml_file import read_mapping


def check_command_line(words: Sequence[str] | None = None) -> None:
    """End with one line where `--configfile` or `--config` gives what are no parameters."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="*", action="extend", default=[])
    parser.add_argument("--config", "-C", nargs="*", action="extend", default=[])
    given, _ = parser.parse_known_args(sys.argv[1:] if words is None else words)
    for file in given.configfile:
        check_params_file(file)
    for pair in given.config:
        if "=" not in pair:
            end_with(ParamsError(f"--config {pair}: needs the form KEY=VALUE, such as data=DIR"))


def check_params_file(file: str) -> None:
    """End with one line where the file is no file of parameters."""
    try:
        read_mapping(file)
    except OmibenchError as error:
        end_with(error)
