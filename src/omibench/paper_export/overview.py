"""README.md of an exported folder: of each table and figure what it is, or why it is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from omibench.schemas.tables import write_text

Kind = Literal["measured", "simulated", "printed", "missing", "impossible", "no numbers"]
MEANINGS: dict[Kind, str] = {
    "measured": "made from this study's responses",
    "simulated": "made from this study, whose responses, judges or problems are SIMULATED: "
    "the numbers say nothing about a real model",
    "printed": "the paper's own numbers alone",
    "missing": "not made: this study lacks what it needs",
    "impossible": "nobody can make it: what it needs was never published",
    "no numbers": "an example or a drawing, which holds no result",
}


class ExportedItem(NamedTuple):
    """A table or figure: its number, what it shows, what it is, why it lacks, and its files."""

    key: str
    title: str
    kind: Kind
    reason: str
    files: list[str]


def write_overview(path: Path, title: str, dataset: str, entries: Sequence[ExportedItem]) -> None:
    """Write the README of an exported folder.

    Args:
        path: The file.
        title: The paper's.
        dataset: The dataset that the study's results are about.
        entries: What the folder holds, in order.

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
        "Files that end in `_printed.csv` hold the paper's printed numbers.",
    ]
    write_text(path, "\n".join(lines) + "\n")


def summarise_entries(entries: Sequence[ExportedItem]) -> str:
    """Say how many tables and figures are of each kind: '12 measured, 3 missing'."""
    counts = Counter(entry.kind for entry in entries)
    return ", ".join(f"{counts[kind]} {kind}" for kind in MEANINGS if counts[kind])


def _describe(entry: ExportedItem) -> str:
    reason = f": {_plain(entry.reason)}" if entry.reason else ""
    files = ", ".join(f"[{name}]({name})" for name in entry.files)
    return f"| {entry.key} | {_plain(entry.title)} | {entry.kind}{reason} | {files} |"


def _plain(text: str) -> str:
    flat = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\`*{}[]<>|" else sign for sign in flat)
