"""README.md of an exported folder: the status of each table and figure, and why one is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from omibench.schemas.tables import write_text

Kind = Literal["measured", "simulated", "printed", "missing", "impossible", "no numbers"]
MEANINGS: dict[Kind, str] = {
    "measured": "made from this study's responses",
    "simulated": "made from this study, with SIMULATED responses, judges or problems: the numbers "
    "say nothing about a real model",
    "printed": "only the paper's own numbers",
    "missing": "not made: the study lacks a requirement",
    "impossible": "cannot be made: its data was never published",
    "no numbers": "an example or a drawing, without results",
}


class ExportedItem(NamedTuple):
    """A table or figure: number, content, status, reason if it is missing, and files."""

    key: str
    title: str
    kind: Kind
    reason: str
    files: list[str]


def write_overview(path: Path, title: str, dataset: str, entries: Sequence[ExportedItem]) -> None:
    """Write the README of an exported folder.

    Args:
        path: The file.
        title: The paper's title.
        dataset: The dataset of the study's results.
        entries: The content of the folder, in order.

    Raises:
        OutputError: The file cannot be written.
    """
    counts = Counter(entry.kind for entry in entries)
    lines = [
        f"# {_plain(title)}: tables and figures",
        "",
        f"Dataset of the study: {_plain(dataset)}.",
        "",
        *(f"- **{kind}** ({counts[kind]}): {MEANINGS[kind]}" for kind in MEANINGS if counts[kind]),
        "",
        "| | what it shows | what it is | files |",
        "|---|---|---|---|",
        *(_describe(entry) for entry in entries),
        "",
        "Files that end in `_printed.csv` contain the paper's printed numbers.",
    ]
    write_text(path, "\n".join(lines) + "\n")


def summarise_entries(entries: Sequence[ExportedItem]) -> str:
    """Return the number of tables and figures of each kind: '12 measured, 3 missing'."""
    counts = Counter(entry.kind for entry in entries)
    return ", ".join(f"{counts[kind]} {kind}" for kind in MEANINGS if counts[kind])


def _describe(entry: ExportedItem) -> str:
    reason = f": {_plain(entry.reason)}" if entry.reason else ""
    files = ", ".join(f"[{name}]({name})" for name in entry.files)
    return f"| {entry.key} | {_plain(entry.title)} | {entry.kind}{reason} | {files} |"


def _plain(text: str) -> str:
    flat = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\`*{}[]<>|" else sign for sign in flat)
