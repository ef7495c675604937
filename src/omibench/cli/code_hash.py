"""The command `omibench code-hash`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.text.terminal import say_lines


def code_hash(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A model's folder.")],
) -> None:
    """Print the Python files in a model's folder and their hash.

    A model with `trust_remote_code: true` needs the hash as its `revision`. Read the files before
    you enter it: they run with your permissions.

    \b
    Example:
      omibench code-hash checkpoints/new-reader
    """
    from omibench.models.local.own_code import hash_code, list_code

    digest = hash_code(folder)
    lines = [*(f"runs      {folder / file}" for file in list_code(folder)), f"revision  {digest}"]
    say_lines("\n".join(lines))
