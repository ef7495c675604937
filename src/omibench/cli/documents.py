"""The verbs that print what is generated from the types: schema, files."""

from __future__ import annotations

import typer


def schema() -> None:
    """Print the JSON schema of parameter files.

    \b
    Example:
      omibench schema > schemas/params.schema.json
    """
    from omibench.describe import params_schema

    typer.echo(params_schema(), nl=False)


def files() -> None:
    """Print a table of every file that is written.

    \b
    Example:
      omibench files > docs/files.md
    """
    from omibench.describe import files_table

    typer.echo(files_table(), nl=False)
