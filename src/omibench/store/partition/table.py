"""The table of a large partition: every key and its place, sorted, on disk.

`keys.table` covers the packs and closed segments of a partition; later lines are found by their
files' indexes. A lookup reads one block of 64 keys, found by the first 8 bytes of the blocks' first
keys, which alone are kept in memory: 1.3 MB for ten million responses. Like every index it is
disposable: it is valid while each covered file has the recorded size and modification time, each
block has a checksum, and a place is verified against its line.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from omibench.store.files import open_stored
from omibench.store.partition.counts import Counts
from omibench.store.partition.index import Damage, FileIndex, State

TABLE = "keys.table"
"""The table's file name in the folder of a partition."""
TABLE_VERSION = 1
BLOCK = 64
RECORD = struct.Struct("<32sIQQ")
BLOCK_BYTES = BLOCK * RECORD.size + 4
PAD = b"\xff" * RECORD.size
HEAD_BYTES = 256 << 20
TABLES_KEPT = 8
"""Tables that a process keeps open: shards of a flow open the same ones repeatedly."""


class TableError(ValueError):
    """A table is corrupt."""


class CoveredFile(NamedTuple):
    """One file covered by a table: its state, and its index without the places."""

    name: str
    state: State
    file_index: FileIndex
    records: int


class Table:
    """One table, open for reading. Threads can share it."""

    def __init__(self, file: int, head: dict[str, Any], fences: array[int], blocks_at: int) -> None:
        self._file, self._fences, self._blocks_at = file, fences, blocks_at
        self.count = int(head["count"])
        self.duplicates = int(head["duplicates"])
        """Lines whose key an earlier line has."""
        self.counts = None if head["counts"] is None else Counts.of(head["counts"])
        """Counts over its keys, each once; None if unknown."""
        self.schemas = {int(schema) for schema in head["schemas"]}
        self.files = [_parse_covered(values) for values in head["files"]]
        self.names = {file.name: number for number, file in enumerate(self.files)}
        if len(fences) != -(-self.count // BLOCK):
            raise TableError("its count and its blocks differ")

    def __del__(self) -> None:
        os.close(self._file)

    def find(self, key: bytes) -> tuple[int, int, int] | None:
        """Return the number of the file and the two numbers of a key's place, or None.

        Raises TableError if the block of the key is damaged.
        """
        prefix = int.from_bytes(key[:8], "big")
        number = bisect_right(self._fences, prefix) - 1
        while number >= 0:
            position = self._in_block(number, key)
            if position is not None:
                return position
            if self._fences[number] != prefix:
                return None
            number -= 1  # keys with a common prefix can span two blocks
        return None

    def covers(self, states: Mapping[str, State]) -> bool:
        """Return whether all its files exist unchanged."""
        return all(states.get(file.name) == file.state for file in self.files)

    def _in_block(self, number: int, key: bytes) -> tuple[int, int, int] | None:
        block = os.pread(self._file, BLOCK_BYTES, self._blocks_at + number * BLOCK_BYTES)
        if len(block) != BLOCK_BYTES or zlib.crc32(block[:-4]) != int.from_bytes(
            block[-4:], "little"
        ):
            raise TableError(f"its block {number} is damaged")
        at = block.find(key)
        while at >= 0:
            if at % RECORD.size == 0:
                _, file, first, second = RECORD.unpack_from(block, at)
                if file >= len(self.files):
                    raise TableError(f"its block {number} refers to a file that does not exist")
                return file, first, second
            at = block.find(key, at + 1)
        return None


def open_table(folder: Path) -> Table | None:
    """Return the table of a partition, or None without a valid one."""
    path = folder / TABLE
    try:
        status = path.stat()
        return _open_table(path, status.st_ino, status.st_size, status.st_mtime_ns)
    except (OSError, ValueError, TypeError, LookupError, RecursionError, OverflowError):
        return None


def read_table(path: Path) -> Table:
    """Read a table from its file. Raises OSError, and ValueError or similar if it is invalid."""
    with open_stored(path) as file:
        line = file.readline(HEAD_BYTES)
        crc, _, text = line.rstrip(b"\n").partition(b" ")
        if crc != b"%08x" % zlib.crc32(text):
            raise TableError("its header is damaged")
        head = json.loads(text)
        if not isinstance(head, dict) or head.get("table") != TABLE_VERSION:
            raise TableError("it has another version")
        size = os.fstat(file.fileno()).st_size
        blocks = int(head["blocks"])
        if not 0 <= blocks <= size // 8:
            raise TableError("its header is not valid")
        packed = file.read(8 * blocks)
        if zlib.crc32(packed) != head["fences"]:
            raise TableError("its fences are damaged")
        fences = array("Q")
        fences.frombytes(packed)
        if sys.byteorder == "big":
            fences.byteswap()
        return Table(os.dup(file.fileno()), head, fences, file.tell())


@lru_cache(TABLES_KEPT)
def _open_table(path: Path, inode: int, size: int, modified_ns: int) -> Table:
    return read_table(path)


def covered_values(file: CoveredFile) -> list[Any]:
    """Return a covered file as JSON values for the header."""
    index = file.file_index
    return [
        file.name, *file.state, file.records, index.covered, index.lines, sorted(index.schemas),
        [list(damage[1:]) for damage in index.damaged],
    ]  # fmt: skip


def _parse_covered(values: Any) -> CoveredFile:
    name, size, modified, records, covered, lines, schemas, damaged = values
    if not isinstance(name, str) or name != Path(name).name:
        raise TableError("it refers to a file that does not exist")
    index = FileIndex(
        schemas={int(schema) for schema in schemas},
        damaged=[Damage(name, int(line), str(reason), int(n)) for line, reason, n in damaged],
        covered=int(covered),
        lines=int(lines),
        closed=True,
    )
    return CoveredFile(name, State(int(size), int(modified)), index, int(records))
