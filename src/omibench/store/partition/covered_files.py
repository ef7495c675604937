"""The files of a partition covered by its table: opened without reading their keys."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from omibench.errors import StoreError, reason_of
from omibench.files.locks import lock_path
from omibench.store.files import OpenFiles
from omibench.store.partition import pack
from omibench.store.partition.counts import Counts
from omibench.store.partition.index import (
    Damage,
    FileIndex,
    State,
    index_path,
    is_closed_by_index,
    read_state,
)
from omibench.store.partition.stored import Entry, StoredFile, stored_file
from omibench.store.partition.table import TABLE, Table, open_table
from omibench.store.partition.table_build import Source, build_table

TAIL_MOST = 50_000
"""Responses that a partition keeps in memory; beyond this, or a hundredth, they go into the
table."""
LOCK = ".indexing"
SETTLED_S = 3600.0
"""Seconds without a change after which a segment that was never closed is covered, too."""
_TURN_S = 0.2
log = logging.getLogger("omibench.store")


class CoveredFiles:
    """The files covered by the table of one partition; empty while the partition is small."""

    def __init__(self, folder: Path, open_files: OpenFiles) -> None:
        self._folder = folder
        self._open_files = open_files
        self._table: Table | None = None
        self._opened: dict[int, StoredFile] = {}

    def __bool__(self) -> bool:
        return self._table is not None

    def __len__(self) -> int:
        return 0 if self._table is None else self._table.count

    @property
    def names(self) -> Mapping[str, int]:
        """Every covered file, with its number."""
        return {} if self._table is None else self._table.names

    @property
    def duplicates(self) -> int:
        """Lines in them whose key an earlier one has."""
        return 0 if self._table is None else self._table.duplicates

    @property
    def counts(self) -> Counts | None:
        """Counts over them; None if their indexes lack the counts."""
        return Counts() if self._table is None else self._table.counts

    @property
    def schemas(self) -> set[int]:
        """Key schemas of their lines."""
        return set() if self._table is None else self._table.schemas

    @property
    def damaged_lines(self) -> list[Damage]:
        """Every damaged line in them."""
        covered = [] if self._table is None else self._table.files
        return [damage for file in covered for damage in file.file_index.damaged]

    def find(self, key: bytes | str) -> Entry | None:
        """Return the location of a key's response, or None. Raises TableError."""
        if self._table is None:
            return None
        position = self._table.find(bytes.fromhex(key) if isinstance(key, str) else key)
        return (
            None if position is None else Entry(self._file(position[0]), position[1], position[2])
        )

    def is_first(self, key: bytes, file: StoredFile) -> bool:
        """Return whether the valid line of a key is in a file."""
        entry = self.find(key)
        return entry is not None and entry.file is file

    def files(self, opened: bool = False) -> list[StoredFile]:
        """Return all of them, or those that were read; their indexes contain no places."""
        if opened or self._table is None:
            return list(self._opened.values())
        return [self._file(number) for number in range(len(self._table.files))]

    def iter_indexes(self) -> Iterator[tuple[StoredFile, FileIndex]]:
        """Yield each of them with its index, including places, one in memory at a time."""
        for file in self.files():
            loaded_file = stored_file(file.path, self._open_files)
            with suppress(FileNotFoundError):  # compacted meanwhile
                loaded_file.load()
                yield file, loaded_file.index

    def forget(self) -> None:
        """Remove the table, because it is wrong."""
        self._take(None)
        with suppress(OSError):
            (self._folder / TABLE).unlink(missing_ok=True)

    def choose(
        self, listed: Mapping[str, Path], live: str | None, checked: Mapping[str, StoredFile]
    ) -> None:
        """Use the table that fits the files of the folder; rebuilt if it covers too few.

        `live` is the segment that this process writes, `checked` the files that it has checked line
        by line. Raises StoreError.
        """
        table = self._fitting(listed)
        if self._is_long(listed, live, table):
            try:
                table = self._make(listed, live, checked)
            except OSError as error:
                raise StoreError(
                    f"{self._folder}: its keys cannot be sorted: {reason_of(error, True)}"
                ) from None
        if table is not self._table:
            self._take(table)

    def _take(self, table: Table | None) -> None:
        for file in self._opened.values():
            file.close()
        self._opened.clear()
        self._table = table

    def _fitting(self, listed: Mapping[str, Path]) -> Table | None:
        table = open_table(self._folder)
        if table is None:
            return None
        states = {name: state for name in table.names if (state := _state(listed.get(name)))}
        return table if table.covers(states) else None

    def _is_long(self, listed: Mapping[str, Path], live: str | None, table: Table | None) -> bool:
        """Return whether enough uncovered responses exist to justify a new table."""
        covered = {} if table is None else table.names
        limit = max(TAIL_MOST, 0 if table is None else table.count // 100)
        uncovered = [path for name, path in listed.items() if name not in covered and name != live]
        if _estimate(uncovered) <= limit:
            return False
        return _estimate(path for path in uncovered if _is_settled(path)) > limit // 2

    def _make(
        self, listed: Mapping[str, Path], live: str | None, checked: Mapping[str, StoredFile]
    ) -> Table:
        with self._alone():
            table = self._fitting(listed)
            if table is not None and not self._is_long(listed, live, table):
                return table  # another process has built it in the meantime
            began = time.monotonic()
            table = build_table(self._folder, self._sources(listed, live, checked))
            if time.monotonic() - began > 1:
                log.info("%s: the keys of %d responses were sorted", self._folder, table.count)
            return table

    def _sources(
        self, listed: Mapping[str, Path], live: str | None, checked: Mapping[str, StoredFile]
    ) -> Iterator[Source]:
        for name, path in listed.items():
            if name == live or not _is_settled(path):
                continue
            file = checked.get(name) or stored_file(path, self._open_files)
            with suppress(FileNotFoundError):
                before = read_state(path)
                if name not in checked:
                    file.load()
                if read_state(path) == before:
                    yield name, before, file.index
            if name not in checked:
                file.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let one process sort while others wait; without locks each sorts for itself."""
        while True:
            try:
                with lock_path(self._folder / LOCK) as locked:
                    if locked:
                        yield
                        return
            except OSError:
                yield
                return
            time.sleep(_TURN_S)

    def _file(self, number: int) -> StoredFile:
        file = self._opened.get(number)
        if file is None:
            assert self._table is not None
            covered = self._table.files[number]
            file = stored_file(self._folder / covered.name, self._open_files)
            file.index = covered.file_index
            self._opened[number] = file
        return file


def _state(path: Path | None) -> State | None:
    try:
        return None if path is None else read_state(path)
    except OSError:
        return None


def _is_settled(path: Path) -> bool:
    if path.suffix == pack.SUFFIX or is_closed_by_index(path):
        return True
    state = _state(path)
    return state is not None and time.time() - state.modified_ns / 1e9 > SETTLED_S


def _estimate(paths: Iterable[Path]) -> int:
    """Estimate the number of responses in files, by the size of their indexes or their own."""
    count = 0
    for path in paths:
        index = _state(index_path(path))
        state = _state(path)
        if index is not None:
            count += index.size // 48
        elif state is not None:
            count += state.size // (400 if path.suffix == pack.SUFFIX else 1000)
    return count
