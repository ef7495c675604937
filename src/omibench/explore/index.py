"""The index of a large run: what is read of its files at each start, and its texts in lower case.

It is disposable: each file is named by the files of cells that it was made from, so that one that
no longer fits is not found. It lies in a folder of the user's own, never among the results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from omibench.errors import MissingInputError, reason_of
from omibench.files.atomic import replace_atomically

if TYPE_CHECKING:
    import polars as pl

INDEX_FROM: Final = 300_000
"""Responses from which on a run is indexed; below that its own files are quick enough."""
VERSION: Final = 1
"""Of what the files hold."""
_SUFFIX: Final = ".arrow"


class FileStamp(NamedTuple):
    """A file as it was when it was read."""

    path: str
    mtime_ns: int
    size: int


def stamp_file(path: Path) -> FileStamp:
    """Time and size of a file.

    Raises:
        MissingInputError: It is not there.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
    return FileStamp(str(path), status.st_mtime_ns, status.st_size)


def name_part(kind: str, stamps: Sequence[FileStamp], columns: Sequence[str] = ()) -> str:
    """The name of what an index holds of some files."""
    document = json.dumps([VERSION, kind, list(columns), [list(stamp) for stamp in stamps]])
    return f"{kind}-{hashlib.sha256(document.encode()).hexdigest()[:32]}"


class Index:
    """A folder of tables, each written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        """Look at a folder, which need not be there.

        Args:
            folder: One that nobody else can write.
        """
        self.folder = folder

    def find(self, name: str) -> Path | None:
        """The file of a part; None where there is none."""
        path = self.folder / f"{name}{_SUFFIX}"
        return path if path.is_file() else None

    def read(self, name: str) -> pl.DataFrame | None:
        """A part; None where there is none that can be read."""
        import polars as pl

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
            is_packed: Whether it is small on disk rather than quick to pass over.

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
        """Its size in bytes."""
        return sum(path.stat().st_size for path in self.folder.glob(f"*{_SUFFIX}"))


def locate_index(results: Path) -> Path:
    """Where the index of a folder of results is kept: in the user's cache."""
    from platformdirs import user_cache_path

    name = hashlib.sha256(str(results.resolve()).encode()).hexdigest()[:16]
    return user_cache_path("omibench") / "explore" / name
