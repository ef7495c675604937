"""The command `omibench new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.text.terminal import say_lines


def new(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="provider, rules (scorer), setting, benchmark, section, result, judge or engine.",
        ),
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name in params.yaml, such as my-rules.")
    ],
    plugin: Annotated[bool, typer.Option("--plugin", hidden=True)] = False,
) -> None:
    """Write a new scorer, provider, setting or other part from a template, with its test.

    It is a file in the current folder, which you list under `plugins` in params.yaml. Nothing is
    overwritten.

    \b
    Example:
      omibench new rules my-rules
      omibench new section hours
    """
    from omibench.scaffold.write import write_part

    part = write_part(kind, name, Path())
    lines = [f"new      {path}" for path in part.created]
    lines += ["", "In params.yaml:", part.usage, "", f"Test it: pytest {part.created[-1]}"]
    say_lines("\n".join(lines))
