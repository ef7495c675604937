"""Generate the reference of the command line with Typer, from the help of each command."""

from __future__ import annotations

import re
import subprocess
import sys


def write_commands() -> str:
    """Return the page as Markdown."""
    words = ["-m", "typer", "omibench.cli.main", "utils", "docs", "--name", "omibench"]
    text = subprocess.run(
        [sys.executable, *words, "--title", "Commands"],
        capture_output=True, encoding="utf-8", check=True,
    ).stdout  # fmt: skip
    # Escape help texts: they contain no tags or links.
    lines = [line if line.startswith("$") else _escape(line) for line in text.splitlines()]
    return "\n".join(lines) + "\n"


def _escape(line: str) -> str:
    pieces = re.split(r"(`[^`]*`)", line)
    return "".join(p if p.startswith("`") else re.sub(r"([<\[])", r"\\\1", p) for p in pieces)
