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
    plugin: Annotated[
        bool, typer.Option("--plugin", help="Write a plug-in file even in a checkout of omibench.")
    ] = False,
) -> None:
    """Write a new scorer, provider, setting or other part from a template, with its test.

    In a checkout of omibench, the part becomes built-in: a module and a test. Elsewhere, or with
    --plugin, it is a file in the current folder, which you list under `plugins` in params.yaml.
    Nothing is overwritten.

    \b
    Example:
      omibench new rules my-rules
      omibench new section hours --plugin
    """
    from omibench.scaffold.write import is_checkout, write_part

    folder = Path()
    is_plugin = plugin or not is_checkout(folder)
    part = write_part(kind, name, folder, as_plugin=is_plugin)
    lines = [f"new      {path}" for path in part.created]
    test = next(path for path in part.created if path.name.startswith("test_"))
    lines += ["", "In params.yaml:", part.usage, "", f"Test it: pytest {test}"]
    if not is_plugin:
        lines += ["Update the schema of params.yaml: make generated"]
    say_lines("\n".join(lines))
