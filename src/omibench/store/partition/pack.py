"""Packs: many responses in one Parquet file (zstd), written once and never changed.

One row is one line of a segment, its three JSON objects as text, with the CRC-32 of the line. Rows
are sorted by role, setting and key, so that those of a cell are adjacent and reading a cell touches
few row groups; the file's index finds a key. A damaged byte costs at most one row group.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from omibench.errors import StoreError, reason_of
from omibench.files.modes import open_new
from omibench.store.files import open_stored
from omibench.store.partition.counts import Counts
from omibench.store.partition.index import (
    Damage,
    FileIndex,
    ResponsePlace,
    read_index,
    read_state,
    write_index,
)
from omibench.store.partition.line import Body, body_checksum, encode_line, parse_values
from omibench.store.partition.pack_footer import copy_footer, find_footer, read_footer

SUFFIX = ".parquet"
GROUP_ROWS = 64
"""Rows of a row group: the loss by one damaged byte, and the cost of reading one response."""
GROUPS_KEPT = 256
"""Decoded row groups that a reader keeps: about 30 MB of responses of 2 kB."""
_ANSWER = ["key", "schema", "response"]
"""Columns that answer a key: while they can be read, nothing is requested again."""
_TEXTS = ("tags", "response", "request", "extra")


MOST_ROWS = 1 << 16
GROUP_BYTES = 1 << 30
"""Maximum rows and bytes of a decoded row group, since the pack can be untrusted."""
_BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""Exceptions of Arrow for files that are not packs."""


class PackFile:
    """A pack for reading. Every method can raise FileNotFoundError: it was compacted again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.index = FileIndex()
        self._file: Any = None
        self._has_damaged_footer = False
        self._careful = False
        """Whether texts repeated by a dictionary are measured before decoding."""
        self._groups: OrderedDict[tuple[int, bool], Any] = OrderedDict()

    def load(self, thorough: bool = False) -> None:
        """Index the pack, from its index file if valid; `thorough` checks every row."""
        saved = None if thorough else read_index(self.path)
        self._careful = self._careful or thorough
        state = read_state(self.path)
        if saved is not None and saved[1] == state:
            self.index = saved[0]
            return
        self.index = FileIndex(closed=True, covered=state.size)
        try:
            groups = self._open().num_row_groups
        except FileNotFoundError:
            raise
        except PermissionError as error:
            raise StoreError(f"{self.path}: cannot be read: {reason_of(error)}") from None
        except _BROKEN as error:
            cause = " ".join(reason_of(error).split())[:200]
            self.index.damaged.append(Damage(self.path.name, 1, f"no row can be read: {cause}"))
            return
        for group in range(groups):
            self._load_group(group, thorough)
        if self._has_damaged_footer:
            reason = "its footer is damaged; the copy of it in the file was read"
            self.index.damaged.append(Damage(self.path.name, 1, reason, 0))
        before = read_index(self.path) if thorough else None
        if before is not None and before[0].records == self.index.records:
            self.index.counts = before[0].counts
        write_index(self.path, self.index, state)

    def is_current(self) -> bool:
        """Return whether the file exists; packs never change."""
        read_state(self.path)
        return True

    def line(self, key: str, place: ResponsePlace) -> bytes:
        """Return one response as the line of a segment. Raises ValueError if it is not valid."""
        return encode_line(key, self.body(key, place))

    def body(self, key: str, place: ResponsePlace) -> Body:
        """Return the body of that line; raises as `line` does, also if the row has another key."""
        group = self._group(place.first, all_columns=True)
        row = _read_row(group, key, place.second)
        body = _body(row)
        if body_checksum(key, body) != row["crc"]:
            raise ValueError("corrupt: its checksum does not match")
        return body

    def response(self, key: str, place: ResponsePlace) -> bytes:
        """Return the response of `key` as JSON; raises as `body` does, by its pages' checksum."""
        group = self._group(place.first, all_columns=False)
        text: str = _read_row(group, key, place.second)["response"]
        return text.encode()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._groups.clear()

    def _load_group(self, group: int, thorough: bool) -> None:
        rows = self._open().metadata.row_group(group).num_rows
        first = self.index.lines + 1
        self.index.lines += rows
        table = None
        for columns in (None, _ANSWER) if thorough else (["key", "schema"],):
            try:
                table = self._read(group, columns)
                break
            except _BROKEN as error:
                part = "requests" if columns is None else "responses"
                cause = " ".join(reason_of(error).split())[:200]
                reason = f"the {part} in its row group {group} cannot be read: {cause}"
                self.index.damaged.append(Damage(self.path.name, first, reason, max(1, rows)))
        if table is None:
            return
        for number in range(table.num_rows):
            try:
                row = {name: table[name][number].as_py() for name in table.column_names}
                fault = None
                if "crc" in row and body_checksum(row["key"], _body(row)) != row["crc"]:
                    fault = "corrupt: its checksum does not match"
                else:
                    self.index.add(row["key"], ResponsePlace(group, number))
                    self.index.schemas.add(int(row["schema"]))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                fault = f"corrupt: its columns are not a response's: {str(error)[:100]}"
            if fault is not None:
                self.index.damaged.append(Damage(self.path.name, first + number, fault))

    def _group(self, group: int, all_columns: bool) -> Any:
        """Return a decoded row group: all its columns, or only those that answer a key."""
        name = (group, all_columns)
        if name in self._groups:
            self._groups.move_to_end(name)
            return self._groups[name]
        try:
            table = self._read(group, None if all_columns else _ANSWER)
        except FileNotFoundError:
            raise
        except _BROKEN as error:
            raise ValueError(f"its row group {group} cannot be read: {reason_of(error)}") from None
        self._groups[name] = table
        if len(self._groups) > GROUPS_KEPT:
            self._groups.popitem(last=False)
        return table

    def _read(self, group: int, columns: list[str] | None) -> Any:
        file = self._open()
        if not 0 <= group < file.num_row_groups:
            raise ValueError("its index refers to a row group that does not exist")
        stated = file.metadata.row_group(group)
        if stated.num_rows > MOST_ROWS or not 0 <= stated.total_byte_size <= GROUP_BYTES:
            raise ValueError(
                f"it declares {stated.num_rows:,} rows and {stated.total_byte_size:,} bytes; at "
                f"most {MOST_ROWS:,} and {GROUP_BYTES:,} are read"
            )
        table = file.read_row_group(group, columns=columns, use_threads=False)
        if self._careful:
            _measure(table)
        return table

    def _open(self) -> Any:
        if self._file is None:
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


def write_pack(path: Path, rows: Iterable[tuple[str, Body]]) -> FileIndex:
    """Write responses as a pack and sync it; the index contains their places.

    Raises StoreError if it cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.large_string()
    schema = pa.schema(
        [("key", pa.string()), ("schema", pa.int32()), ("crc", pa.uint32())]
        + [(name, text) for name in _TEXTS]
    )
    index = FileIndex(closed=True, counts=Counts())
    try:
        with (
            os.fdopen(open_new(path, os.O_RDWR | os.O_TRUNC), "w+b") as file,
            pq.ParquetWriter(
                file, schema, compression="zstd", use_dictionary=["tags"],
                write_page_checksum=True, write_statistics=False,
            ) as writer,
        ):  # fmt: skip
            remaining, number = iter(rows), 0
            while group := list(islice(remaining, GROUP_ROWS)):
                writer.write_table(
                    pa.Table.from_pylist([_build_row(*row) for row in group], schema)
                )
                _add_group(index, number, group)
                number += 1
            writer.close()
            copy_footer(file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {reason_of(error)}") from None
    index.covered = path.stat().st_size
    return index


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


def _add_group(index: FileIndex, number: int, group: Iterable[tuple[str, Body]]) -> None:
    for row, (key, body) in enumerate(group):
        index.add(key, ResponsePlace(number, row))
        index.schemas.add(body.schema)
        index.lines += 1
        try:
            if index.counts is not None:
                index.counts.add(parse_values(body.response))
        except (ValueError, TypeError, AttributeError):
            index.counts = None  # possibly from a later version


def _build_row(key: str, body: Body) -> dict[str, Any]:
    return {
        "key": key,
        "schema": body.schema,
        "crc": body_checksum(key, body),
        **{name: getattr(body, name).decode() or None for name in _TEXTS},
    }


def _read_row(group: Any, key: str, row: int) -> dict[str, Any]:
    if row >= group.num_rows or group["key"][row].as_py() != key:
        raise ValueError("its index has another key")
    return {name: group[name][row].as_py() for name in group.column_names}


def _body(row: dict[str, Any]) -> Body:
    return Body(row["schema"], *((row[name] or "").encode() for name in _TEXTS))
