"""Original texts of translated problems, stored with the frozen dataset.

They are in a separate file: models do not see them, and the content hashes of questions and answers
do not depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from omibench.schemas.problem import OriginalRow, Problem
from omibench.schemas.tables import read_jsonl, write_jsonl

NAME = "originals.jsonl"


def list_originals(problems: Sequence[Problem]) -> list[OriginalRow]:
    """Return the original texts of translated problems, in their order."""
    return [
        OriginalRow(id=problem.id, original=problem.original)
        for problem in problems
        if problem.original is not None
    ]


def read_originals(folder: Path) -> list[OriginalRow]:
    """Return those of a frozen dataset; empty without the file. Raises as `read_jsonl`."""
    return read_jsonl(folder / NAME, OriginalRow) if (folder / NAME).is_file() else []


def write_originals(out: Path, rows: Sequence[OriginalRow]) -> None:
    """Write originals.jsonl into the dataset, empty if no problem was translated."""
    write_jsonl(out / NAME, rows)
