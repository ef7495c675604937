"""docs/security.md says for each command what it can run of a study's folder."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from command_line import app

_RUNS_PLUGINS = re.compile(r"\b_?read_study\(\s*params\b|\brun_plugins=params\b")
"""How a command reads parameters with their plug-ins; `show_study` leaves them out."""


def leaves(command: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, (*names, name))
    if not hasattr(command, "commands"):
        yield names, inspect.getsource(inspect.unwrap(command.callback))


def rows_of_the_table(root: Path) -> dict[str, str]:
    text = (root / "docs/security.md").read_text("utf-8")
    table = text.partition("| command |")[2].partition("\n\n")[0]
    cells = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    return {name: said.strip() for names, said in cells for name in re.findall(r"`(.+?)`", names)}


def test_the_table_has_every_command_and_what_it_runs(root: Path) -> None:
    rows = rows_of_the_table(root)
    used = set()
    for names, source in leaves(typer.main.get_command(app)):
        row = next((row for row in (" ".join(names), names[0]) if row in rows), None)
        assert row, f"{' '.join(names)}: docs/security.md does not say what it can run"
        used.add(row)
        if rows[row].startswith("as `run`"):
            continue  # flows run it, which `flows.build.snakemake` checks
        assert bool(_RUNS_PLUGINS.search(source)) == (
            "plug-ins;" in rows[row] or ("plug-ins, only" in rows[row])
        ), f"{' '.join(names)}: the table says {rows[row]!r}"
    assert used == set(rows), "the table has a command that does not exist"
