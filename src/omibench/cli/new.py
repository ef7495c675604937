"""The verb `omibench new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.text.terminal import say_lines


def new(
    kind: Annotated[
        str,
        typer.Argument(
            help="provider, rules, setting, benchmark, section, result, judge or engine."
        ),
    ],
    name: Annotated[str, typer.Argument(help="What params will call it, such as my-rules.")],
    plugin: Annotated[
        bool, typer.Option("--plugin", help="Write a plug-in's file, also in a checkout.")
    ] = False,
) -> None:
    """Write a working part of your own from a template, with its test.

    In a checkout of omibench it becomes a built-in part: a module, its test, and a line in
    src/omibench/plugins/built_in.py. Elsewhere, or with --plugin, it is a file in the current
    folder that params.yaml names in `plugins`. Nothing is overwritten.

    \b
    Example:
      omibench new rules my-rules
      omibench new section hours --plugin
    """
    from omibench.scaffold.write import is_checkout, write_part

    folder = Path()
    part = write_part(kind, name, folder, as_plugin=plugin or not is_checkout(folder))
    lines = [*(f"new      {path}" for path in part.created)]
    lines += [f"changed  {path}" for path in part.changed]
    test = next(path for path in part.created if path.name.startswith("test_"))
    lines += ["", "In params.yaml:", part.usage, "", f"Test it: pytest {test}"]
    if part.changed:
        lines += ["Write the schema of params.yaml again: make generated"]
    say_lines("\n".join(lines))
