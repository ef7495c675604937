"""The tables that the stage wrote: one that it no longer writes is removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def replace_tables(out: Path) -> Iterator[None]:
    """Remove the tables of an earlier run that are not written again in the context.

    Args:
        out: The folder of the report. Files that no run noted are kept.

    Raises:
        OutputError: The note cannot be written.
    """
    known = _read_known(out)
    for name in known & _stamp_tables(out).keys():
        # A table written again within the clock's resolution must not look unchanged.
        os.utime(out / name, (0, 0), follow_symlinks=False)
    before = _stamp_tables(out)
    yield
    after = _stamp_tables(out)
    written = [name for name, stamp in after.items() if before.get(name) != stamp]
    for name in after.keys() & known - set(written):
        (out / name).unlink(missing_ok=True)
    write_json(out / NAME, WrittenTables(tables=sorted(written)))


def _read_known(out: Path) -> set[str]:
    path = out / NAME
    if not path.is_file():
        # Without a report, omibench did not write this folder.
        return {f"{name}.csv" for name in _EARLIER} if (out / "report.html").is_file() else set()
    try:
        return {*read_json(path, WrittenTables).tables}
    except FileFormatError:
        return set()


def _stamp_tables(out: Path) -> dict[str, tuple[int, int]]:
    paths = [path for pattern in _PATTERNS for path in out.glob(pattern)]
    states = {path.relative_to(out).as_posix(): path.lstat() for path in paths}
    return {name: (state.st_ino, state.st_mtime_ns) for name, state in states.items()}
