"""The footer of a pack, which locates every row group, stored twice.

A Parquet file ends with its footer, without a checksum: one damaged bit there loses every row. A
pack has a copy with a checksum just before it, where Parquet readers ignore it.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections import OrderedDict
from collections.abc import Iterable
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from omibench.errors import StoreError, reason_of
from omibench.extras import require_extra
from omibench.files.outputs import open_new
from omibench.store.segments import (
    Body,
    Damage,
    StoredFile,
    body_checksum,
    encode_line,
    open_stored,
)

MAGIC = b"PAR1"
_MARK = b"\x89omiFOOT"
_HEAD = struct.Struct("<8sII")
"""Mark, CRC-32 and length of the copy that follows."""
_TAIL = struct.Struct("<I4s")
"""Length of the footer and magic, the end of a Parquet file."""
SEARCH_BYTES = 64 << 20
"""Bytes at the end of a file that are searched for the copy."""


class Footer(NamedTuple):
    """The intact footer of a pack, and whether the one that Parquet readers use is damaged."""

    text: bytes
    is_damaged: bool

    def as_file(self) -> bytes:
        """Return a Parquet file without rows that has this footer."""
        return MAGIC + self.text + _TAIL.pack(len(self.text), MAGIC)


def copy_footer(file: BinaryIO) -> None:
    """Insert the copy before the footer of a finished Parquet file.

    Args:
        file: The file, open for reading and writing.
    """
    size = file.seek(0, 2)
    file.seek(size - _TAIL.size)
    length, _ = _TAIL.unpack(file.read(_TAIL.size))
    start = file.seek(size - _TAIL.size - length)
    footer = file.read(length)
    file.seek(start)
    file.write(_HEAD.pack(_MARK, zlib.crc32(footer), length) + footer)
    file.write(footer + _TAIL.pack(length, MAGIC))


def read_footer(file: BinaryIO) -> Footer | None:
    """Return the intact footer of a pack whose end locates its copy.

    Returns:
        None for a file without an intact copy there, such as an older pack.
    """
    size = file.seek(0, 2)
    tail = _read(file, size - _TAIL.size, _TAIL.size)
    length = int.from_bytes(tail[:4], "little")
    start = size - _TAIL.size - 2 * length - _HEAD.size
    if tail[4:] == MAGIC and start >= 0:
        copy = _parse_copy(_read(file, start, _HEAD.size + length), 0)
        if copy is not None:
            own = _read(file, size - _TAIL.size - length, length)
            return Footer(copy, own != copy)
    return None


def find_footer(file: BinaryIO) -> Footer | None:
    """Search the end of a pack whose last bytes are damaged for its copy.

    Returns:
        None without an intact copy.
    """
    size = file.seek(0, 2)
    first = max(0, size - SEARCH_BYTES)
    end = _read(file, first, size - first)
    place = end.rfind(_MARK)
    while place >= 0:
        if (copy := _parse_copy(end, place)) is not None:
            return Footer(copy, is_damaged=True)
        place = end.rfind(_MARK, 0, place)
    return None


def _parse_copy(data: bytes, place: int) -> bytes | None:
    if len(data) < place + _HEAD.size:
        return None
    mark, crc, length = _HEAD.unpack_from(data, place)
    copy = data[place + _HEAD.size : place + _HEAD.size + length]
    intact = mark == _MARK and len(copy) == length and zlib.crc32(copy) == crc
    return copy if intact else None


def _read(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(max(0, place))
    return file.read(size)


# Packs: many responses in one Parquet file (zstd), written once and never changed.
#
# One row is one line of a segment, its three JSON objects as text, with the CRC-32 of the line.
# Rows are sorted by role, setting and key, so that those of a cell are adjacent and reading a cell
# touches few row groups. Opening a pack reads its keys alone. A damaged byte costs at most one row
# group.

SUFFIX = ".parquet"
GROUP_ROWS = 64
"""Rows of a row group: the loss by one damaged byte, and the cost of reading one response."""
GROUPS_AT_ONCE = 256
"""Row groups whose keys are read at once."""
GROUPS_KEPT = 256
"""Decoded row groups that a reader keeps: about 40 MB of responses of 2 kB."""
_ANSWER = ["key", "schema", "response"]
"""Columns that answer a key: while they can be read, nothing is requested again."""
_TEXTS = ("tags", "response", "request", "extra")


MOST_ROWS = 1 << 16
GROUP_BYTES = 1 << 30
"""Maximum rows and bytes of a decoded row group, since the pack can be untrusted."""
_KEY = re.compile("[0-9a-f]{64}")
_BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""Exceptions of Arrow for files that are not packs."""


class PackFile(StoredFile):
    """A pack for reading."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._file: Any = None
        self._has_damaged_footer = False
        self._careful = False
        """Whether texts repeated by a dictionary are measured before decoding."""
        self._groups: OrderedDict[tuple[int, bool], dict[str, list[Any]]] = OrderedDict()

    def load(self, thorough: bool = False) -> None:
        """Read the keys of the pack; `thorough` checks every row."""
        self.path.stat()
        if thorough:
            self.close()
            self._careful = True
        self._forget()
        try:
            groups = self._open().num_row_groups
        except FileNotFoundError:
            raise
        except PermissionError as error:
            raise StoreError(f"{self.path}: cannot be read: {reason_of(error)}") from None
        except _BROKEN as error:
            cause = " ".join(reason_of(error).split())[:200]
            self.damaged.append(Damage(self.path.name, 1, f"no row can be read: {cause}"))
            return
        for first in range(0, groups, GROUPS_AT_ONCE):
            numbers = range(first, min(first + GROUPS_AT_ONCE, groups))
            if thorough or not self._load_keys(numbers):
                for group in numbers:
                    self._load_group(group, thorough)
        if self._has_damaged_footer:
            reason = "its footer is damaged; the copy of it in the file was read"
            self.damaged.append(Damage(self.path.name, 1, reason, 0))

    def count_rows(self) -> int:
        """Return the number of rows that the footer declares; 0 if it cannot be read."""
        try:
            return int(self._open().metadata.num_rows)
        except FileNotFoundError:
            raise
        except _BROKEN:
            return 0

    def is_current(self) -> bool:
        """Return whether the file exists; packs never change."""
        self.path.stat()
        return True

    def line(self, key: str) -> bytes:
        """Return one response as the line of a segment. Raises ValueError if it is not valid."""
        return encode_line(key, self.body(key))

    def body(self, key: str) -> Body:
        """Return the body of that line; raises as `line` does, also if the row has another key."""
        row = self._row(key, all_columns=True)
        body = _body(row)
        if body_checksum(key, body) != row["crc"]:
            raise ValueError("corrupt: its checksum does not match")
        return body

    def response(self, key: str) -> bytes:
        """Return the response of `key` as JSON; raises as `body` does, by its pages' checksum."""
        text: str = self._row(key, all_columns=False)["response"]
        return text.encode()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._groups.clear()

    def _load_keys(self, groups: range) -> bool:
        """Read the keys of many row groups at once; False if they must be read one by one."""
        try:
            sizes = [self._check_size(group) for group in groups]
            if sum(sizes) > MOST_ROWS:
                return False
            table = self._file.read_row_groups(
                list(groups), columns=["key", "schema"], use_threads=False
            )
            keys, schemas = table["key"].to_pylist(), table["schema"].to_pylist()
            if not all(isinstance(key, str) and _KEY.fullmatch(key) for key in keys):
                return False
            if not all(isinstance(schema, int) for schema in schemas):
                return False
        except _BROKEN:
            return False
        places = (
            (group, row) for group, size in zip(groups, sizes, strict=True) for row in range(size)
        )
        for key, schema, (group, row) in zip(keys, schemas, places, strict=True):
            self.add(key, group, row, schema)
        self.lines += len(keys)
        return True

    def _load_group(self, group: int, thorough: bool) -> None:
        rows = self._open().metadata.row_group(group).num_rows
        first = self.lines + 1
        self.lines += rows
        table = None
        for columns in (None, _ANSWER) if thorough else (["key", "schema"],):
            try:
                table = self._read(group, columns)
                break
            except _BROKEN as error:
                part = "requests" if columns is None else "responses"
                cause = " ".join(reason_of(error).split())[:200]
                reason = f"the {part} in its row group {group} cannot be read: {cause}"
                self.damaged.append(Damage(self.path.name, first, reason, max(1, rows)))
        if table is None:
            return
        for number in range(table.num_rows):
            try:
                row = {name: table[name][number].as_py() for name in table.column_names}
                fault = None
                if "crc" in row and body_checksum(row["key"], _body(row)) != row["crc"]:
                    fault = "corrupt: its checksum does not match"
                else:
                    self.add(row["key"], group, number, int(row["schema"]))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                fault = f"corrupt: its columns are not a response's: {str(error)[:100]}"
            if fault is not None:
                self.damaged.append(Damage(self.path.name, first + number, fault))

    def _row(self, key: str, all_columns: bool) -> dict[str, Any]:
        """Return the row of a key: all its columns, or only those that answer it."""
        group, row = self.place(key)
        values = self._group(group, all_columns)
        if row >= len(values["key"]) or values["key"][row] != key:
            raise ValueError("it has another key")
        return {name: column[row] for name, column in values.items()}

    def _group(self, group: int, all_columns: bool) -> dict[str, list[Any]]:
        """Return the columns of a decoded row group."""
        name = (group, all_columns)
        if name in self._groups:
            self._groups.move_to_end(name)
            return self._groups[name]
        try:
            table = self._read(group, None if all_columns else _ANSWER)
            values: dict[str, list[Any]] = table.to_pydict()
        except FileNotFoundError:
            raise
        except _BROKEN as error:
            raise ValueError(f"its row group {group} cannot be read: {reason_of(error)}") from None
        self._groups[name] = values
        if len(self._groups) > GROUPS_KEPT:
            self._groups.popitem(last=False)
        return values

    def _check_size(self, group: int) -> int:
        """Return the number of rows of a row group. Raises ValueError if it declares too much."""
        file = self._open()
        if not 0 <= group < file.num_row_groups:
            raise ValueError("its row group does not exist")
        stated = file.metadata.row_group(group)
        if not 0 <= stated.num_rows <= MOST_ROWS or not 0 <= stated.total_byte_size <= GROUP_BYTES:
            raise ValueError(
                f"it declares {stated.num_rows:,} rows and {stated.total_byte_size:,} bytes; at "
                f"most {MOST_ROWS:,} and {GROUP_BYTES:,} are read"
            )
        return int(stated.num_rows)

    def _read(self, group: int, columns: list[str] | None) -> Any:
        self._check_size(group)
        file = self._open()
        table = file.read_row_group(group, columns=columns, use_threads=False)
        if self._careful:
            _measure(table)
        return table

    def _open(self) -> Any:
        if self._file is None:
            require_extra("packs", f"{self.path}: reading a pack")
            import pyarrow.parquet as pq

            options = {
                "read_dictionary": ["key", *_TEXTS] if self._careful else None,
                "page_checksum_verification": True,
            }
            with open_stored(self.path) as file:
                footer = read_footer(file)
                try:
                    if footer is None:
                        self._file = pq.ParquetFile(self.path, **options)
                        return self._file
                except _BROKEN:
                    footer = find_footer(file)
                    if footer is None:
                        raise
            metadata = pq.read_metadata(BytesIO(footer.as_file()))
            self._has_damaged_footer = footer.is_damaged
            self._file = pq.ParquetFile(self.path, metadata=metadata, **options)
        return self._file


def write_pack(path: Path, rows: Iterable[tuple[str, Body]]) -> list[str]:
    """Write responses as a pack and sync it; returns their keys.

    Raises StoreError if it cannot be written.
    """
    require_extra("packs", f"{path}: writing a pack")
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.large_string()
    schema = pa.schema(
        [("key", pa.string()), ("schema", pa.int32()), ("crc", pa.uint32())]
        + [(name, text) for name in _TEXTS]
    )
    keys: list[str] = []
    try:
        with (
            os.fdopen(open_new(path, os.O_RDWR | os.O_TRUNC), "w+b") as file,
            pq.ParquetWriter(
                file, schema, compression="zstd", use_dictionary=["tags"],
                write_page_checksum=True, write_statistics=False,
            ) as writer,
        ):  # fmt: skip
            remaining = iter(rows)
            while group := list(islice(remaining, GROUP_ROWS)):
                writer.write_table(
                    pa.Table.from_pylist([_build_row(*row) for row in group], schema)
                )
                keys += [key for key, _ in group]
            writer.close()
            copy_footer(file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {reason_of(error)}") from None
    return keys


def _measure(table: Any) -> None:
    """Raise ValueError if texts repeated by a dictionary exceed the limit of a group."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = 0
    for column in table.columns:
        for chunk in column.chunks:
            if pa.types.is_dictionary(chunk.type):
                lengths = pc.binary_length(chunk.dictionary).take(chunk.indices)
                size += pc.sum(lengths.cast(pa.int64())).as_py() or 0
    if size > GROUP_BYTES:
        raise ValueError(f"it unpacks to {size:,} bytes; at most {GROUP_BYTES:,} are read")


def _build_row(key: str, body: Body) -> dict[str, Any]:
    return {
        "key": key,
        "schema": body.schema,
        "crc": body_checksum(key, body),
        **{name: getattr(body, name).decode() or None for name in _TEXTS},
    }


def _body(row: dict[str, Any]) -> Body:
    return Body(row["schema"], *((row[name] or "").encode() for name in _TEXTS))
