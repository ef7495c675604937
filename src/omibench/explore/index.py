"""Index of a large run: data of its files for fast starts, and its texts in lower case.

The index is disposable. The name of each part depends on the cell files that it was made from, so
that outdated parts are not found. It is in a user folder, never in the results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from omibench.errors import MissingInputError, reason_of
from omibench.files.atomic import replace_atomically

INDEX_FROM: Final = 300_000
"""The number of responses from which a run is indexed; smaller runs are fast without."""
VERSION: Final = 1
"""Version of the file contents."""
_SUFFIX: Final = ".arrow"


class FileStamp(NamedTuple):
    """The state of a file when it was read."""

    path: str
    mtime_ns: int
    size: int


def stamp_file(path: Path) -> FileStamp:
    """Return time and size of a file.

    Raises:
        MissingInputError: The file does not exist.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
    return FileStamp(str(path), status.st_mtime_ns, status.st_size)


def name_part(kind: str, stamps: Sequence[FileStamp], columns: Sequence[str] = ()) -> str:
    """Return the name of the index part for some files."""
    document = json.dumps([VERSION, kind, list(columns), [list(stamp) for stamp in stamps]])
    return f"{kind}-{hashlib.sha256(document.encode()).hexdigest()[:32]}"


class Index:
    """A folder of tables, each written atomically."""

    def __init__(self, folder: Path) -> None:
        """Open a folder, which may be missing.

        Args:
            folder: A folder that only the user can write.
        """
        self.folder = folder

    def find(self, name: str) -> Path | None:
        """Return the file of a part, or None."""
        path = self.folder / f"{name}{_SUFFIX}"
        return path if path.is_file() else None

    def read(self, name: str) -> pl.DataFrame | None:
        """Return a part, or None if missing or unreadable."""
        path = self.find(name)
        if path is None:
            return None
        try:
            return pl.read_ipc(path)
        except (pl.exceptions.PolarsError, OSError):
            return None

    def write(self, name: str, frame: pl.DataFrame, *, is_packed: bool = False) -> None:
        """Write a part.

        Args:
            name: Its name.
            frame: Its rows.
            is_packed: Whether to optimize for size on disk rather than speed.

        Raises:
            OSError: The folder cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replace_atomically(self.folder / f"{name}{_SUFFIX}") as partial:
            frame.write_ipc(partial, compression="lz4" if is_packed else "uncompressed")

    def keep(self, names: Collection[str]) -> None:
        """Delete all other parts."""
        for path in self.folder.glob(f"*{_SUFFIX}"):
            if path.stem not in names:
                path.unlink(missing_ok=True)

    def measure(self) -> int:
        """Return its size in bytes."""
        return sum(path.stat().st_size for path in self.folder.glob(f"*{_SUFFIX}"))


def locate_index(results: Path) -> Path:
    """Return the index folder of a results folder, in the user's cache."""
    from platformdirs import user_cache_path

    name = hashlib.sha256(str(results.resolve()).encode()).hexdigest()[:16]
    return user_cache_path("omibench") / "explore" / name
