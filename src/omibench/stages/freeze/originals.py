"""Originals: what translated problems said before, kept beside the frozen dataset.

They stand in a file of their own. No model is asked about them, and the content hashes of questions
and answers stay what they are without.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from omibench.schemas.problem import OriginalRow, Problem
from omibench.schemas.tables import read_jsonl, write_jsonl

NAME = "originals.jsonl"


def list_originals(problems: Sequence[Problem]) -> list[OriginalRow]:
    """The originals of those problems that were translated, in their order."""
    return [
        OriginalRow(id=problem.id, original=problem.original)
        for problem in problems
        if problem.original is not None
    ]


def read_originals(folder: Path) -> list[OriginalRow]:
    """Those of a frozen dataset; none where it has no such file. Raises as `read_jsonl` does."""
    return read_jsonl(folder / NAME, OriginalRow) if (folder / NAME).is_file() else []


def write_originals(out: Path, rows: Sequence[OriginalRow]) -> None:
    """Write originals.jsonl into the dataset, empty where no problem was translated."""
    write_jsonl(out / NAME, rows)
