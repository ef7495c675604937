"""The tables that the stage wrote: one that it no longer writes is removed."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from omibench.errors import FileFormatError
from omibench.schemas.tables import read_json, write_json

NAME: Final = "written.json"
_PATTERNS: Final = ("*.csv", "plots/*/*.csv")
_EARLIER: Final = (
    "main", "by_images", "failures", "differences", "audit", "rationales", "errors", "samples",
    "saliency",
)  # fmt: skip
"""Tables of earlier versions, which noted none."""


class WrittenTables(BaseModel):
    """The tables of the report, as paths in its folder."""

    model_config = ConfigDict(frozen=True)

    tables: list[str]


def note_tables(out: Path, written: Set[str]) -> None:
    """Note the tables of this run, and remove those of an earlier run that it did not write.

    Args:
        out: The folder of the report. Files that no run noted are kept.
        written: The tables of this run, as paths in the folder.

    Raises:
        OutputError: The note cannot be written.
    """
    note = out / NAME
    # Without a report, omibench did not write this folder.
    known = {f"{name}.csv" for name in _EARLIER} if (out / "report.html").is_file() else set()
    if note.is_file():
        try:
            known = {*read_json(note, WrittenTables).tables}
        except FileFormatError:
            known = set()
    for path in [path for pattern in _PATTERNS for path in out.glob(pattern)]:
        if path.relative_to(out).as_posix() in known - written:
            path.unlink()
    write_json(note, WrittenTables(tables=sorted(written)))
