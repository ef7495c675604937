"""The commands that print documents generated from the types: schema, files."""

from __future__ import annotations

from omibench.text.terminal import say_lines


def schema() -> None:
    """Print the JSON schema of parameter files.

    \b
    Example:
      omibench schema > schemas/params.schema.json
    """
    from omibench.graph.describe import params_schema

    say_lines(params_schema())


def files() -> None:
    """Print a table of every file that omibench writes.

    \b
    Example:
      omibench files > docs/files.md
    """
    from omibench.graph.describe import files_table

    say_lines(files_table())
