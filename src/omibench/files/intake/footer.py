"""Metadata in the footer of a Parquet file, read without pyarrow.

Jobs read tables through polars, which does not report sizes; pyarrow does, but importing it
takes longer than reading most tables. The footer uses Thrift's compact protocol.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO, Final, NamedTuple

_MAGIC: Final = b"PAR1"
FOOTER_BYTES: Final = 16 * 2**20
_DEPTH: Final = 16
_ROWS, _GROUPS, _METADATA = 3, 4, 5
_COLUMNS = 1
_CHUNK, _PATH, _UNPACKED = 3, 3, 6
"""Field numbers in FileMetaData, RowGroup, and ColumnChunk with its ColumnMetaData."""


class Column(NamedTuple):
    """One column of one row group: its name and uncompressed bytes."""

    name: str
    size: int


class Footer(NamedTuple):
    """Number of rows, and the columns of each row group."""

    rows: int
    columns: list[Column]
    metadata: dict[str, str]
    """Key-value metadata of the writer."""
    start: int
    """Bytes of the file before the footer."""


def read_footer(file: BinaryIO) -> Footer:
    """Read the footer of a Parquet file. Raises ValueError if it is not a Parquet file."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    if size < 12 or tail[4:] != _MAGIC:
        raise ValueError("it does not end as a Parquet file does")
    (length,) = struct.unpack("<I", tail[:4])
    if length > min(size - 12, FOOTER_BYTES):
        raise ValueError(f"its description would have {length:,} bytes")
    file.seek(size - 8 - length)
    try:
        fields = _Thrift(file.read(length)).fields(_DEPTH)
        columns = [
            Column(chunk[_CHUNK][_PATH][0].decode("utf-8"), chunk[_CHUNK][_UNPACKED])
            for group in fields.get(_GROUPS, [])
            for chunk in group[_COLUMNS]
        ]
        pairs = {pair[1]: pair.get(2, b"") for pair in fields.get(_METADATA, [])}
        metadata = {key.decode(): value.decode("utf-8", "replace") for key, value in pairs.items()}
        return Footer(int(fields[_ROWS]), columns, metadata, size - 8 - length)
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError, struct.error):
        raise ValueError("its description is damaged") from None


class _Thrift:
    """Reader for values of the compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def fields(self, depth: int) -> dict[int, Any]:
        """Read a structure as values by field number."""
        if not depth:
            raise IndexError
        values: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._read_signed()
            kind = head & 15
            values[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return values

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2 | 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._read_signed()
            case 7:
                return self._bytes(8)
            case 8:
                return self._bytes(self._read_unsigned())
            case 9 | 10:
                return self._list(depth)
            case 12:
                return self.fields(depth - 1)
        raise IndexError  # Parquet has no maps

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = self._read_unsigned() if head >> 4 == 15 else head >> 4
        if count > len(self._data):
            raise IndexError
        return [self._value(head & 15, depth - 1) for _ in range(count)]

    def _byte(self) -> int:
        value = self._data[self._at]
        self._at += 1
        return value

    def _bytes(self, count: int) -> bytes:
        start, self._at = self._at, self._at + count
        if self._at > len(self._data):
            raise IndexError
        return self._data[start : self._at]

    def _read_unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise IndexError
        return value | byte << shift

    def _read_signed(self) -> int:
        value = self._read_unsigned()
        return value >> 1 ^ -(value & 1)
