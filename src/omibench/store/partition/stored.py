"""What a segment and a pack have in common, and where the response of a key stands."""

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
        """Index the file, by its saved index or, `thorough`, by checking everything in it."""

    def is_current(self) -> bool:
        """Whether the file is as it was when it was loaded."""

    def line(self, key: str, place: ResponsePlace) -> bytes:
        """The response of a key as the line of a segment. Raises ValueError if it is damaged."""

    def body(self, key: str, place: ResponsePlace) -> Body:
        """The body of that line; raises as `line` does."""

    def response(self, key: str, place: ResponsePlace) -> bytes:
        """The response of a key as JSON; raises as `line` does."""

    def close(self) -> None:
        """Let go of the file."""


class Entry(NamedTuple):
    """Where the response of one key stands."""

    file: StoredFile
    first: int
    second: int

    @property
    def place(self) -> ResponsePlace:
        """Its place within the file."""
        return ResponsePlace(self.first, self.second)


def stored_file(path: Path, files: OpenFiles) -> StoredFile:
    """A segment or a pack by its name, not indexed yet."""
    return PackFile(path) if path.suffix == pack.SUFFIX else SegmentFile(path, files)


def rank_entry(entry: Entry) -> tuple[bool, str]:
    """Of two lines with one key the one of lower rank counts: packs first, then by name."""
    path = entry.file.path
    return path.suffix != pack.SUFFIX, path.name
