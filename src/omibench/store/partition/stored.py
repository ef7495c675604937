"""The common interface of segments and packs, and the location of a key's response."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from omibench.store.files import OpenFiles
from omibench.store.partition import pack
from omibench.store.partition.index import FileIndex, ResponsePlace
from omibench.store.partition.line import Body
from omibench.store.partition.pack import PackFile
from omibench.store.partition.segment import SegmentFile


class StoredFile(Protocol):
    """A segment or a pack."""

    path: Path
    index: FileIndex

    def load(self, thorough: bool = False) -> None:
        """Index the file, by its saved index or, if `thorough`, by checking everything in it."""

    def is_current(self) -> bool:
        """Return whether the file is unchanged since it was loaded."""

    def line(self, key: str, place: ResponsePlace) -> bytes:
        """Return the response of a key as the line of a segment. Raises ValueError if damaged."""

    def body(self, key: str, place: ResponsePlace) -> Body:
        """Return the body of that line; raises as `line` does."""

    def response(self, key: str, place: ResponsePlace) -> bytes:
        """Return the response of a key as JSON; raises as `line` does."""

    def close(self) -> None:
        """Close the file."""


class Entry(NamedTuple):
    """Location of the response of one key."""

    file: StoredFile
    first: int
    second: int

    @property
    def place(self) -> ResponsePlace:
        """Its place within the file."""
        return ResponsePlace(self.first, self.second)


def stored_file(path: Path, files: OpenFiles) -> StoredFile:
    """Return a segment or a pack by its name, not indexed yet."""
    return PackFile(path) if path.suffix == pack.SUFFIX else SegmentFile(path, files)


def rank_entry(entry: Entry) -> tuple[bool, str]:
    """Return the rank of an entry; of two lines with one key the lower one counts: packs first."""
    path = entry.file.path
    return path.suffix != pack.SUFFIX, path.name
