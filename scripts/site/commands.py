"""Generate the reference of the command line with Typer, from the help of each command."""

from __future__ import annotations

import re

import typer
from typer.cli import get_docs_for_click

from omibench.cli.main import make_app


def write_commands() -> str:
    """Return the page as Markdown."""
    command = typer.main.get_command(make_app())
    context = typer.Context(command)
    text = get_docs_for_click(obj=command, ctx=context, name="omibench", title="Commands")
    # Escape help texts: they contain no tags or links.
    lines = [line if line.startswith("$") else _escape(line) for line in text.splitlines()]
    return "\n".join(lines) + "\n"


def _escape(line: str) -> str:
    pieces = re.split(r"(`[^`]*`)", line)
    return "".join(p if p.startswith("`") else re.sub(r"([<\[])", r"\\\1", p) for p in pieces)
