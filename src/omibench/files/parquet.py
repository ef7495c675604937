"""Metadata in the footer of a Parquet file, and Parquet files of strangers.

Polars reads and writes tables, but does not report the sizes that a footer states; a bomb must be
refused before it is decoded. The footer uses Thrift's compact protocol.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from omibench.errors import FileFormatError, reason_of
from omibench.files.reading import open_regular, size_text

if TYPE_CHECKING:
    import polars as pl


_MAGIC: Final = b"PAR1"
FOOTER_BYTES: Final = 16 * 2**20
_CACHED_BYTES: Final = 64 * 2**10
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
    columns: Sequence[Column]
    metadata: Mapping[str, str]
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
    data = file.read(length)
    parse = _parse_once if length <= _CACHED_BYTES else _parse
    return parse(data)._replace(start=size - 8 - length)


def _parse(data: bytes) -> Footer:
    try:
        fields = _Thrift(data).fields(_DEPTH)
        columns = [
            Column(chunk[_CHUNK][_PATH][0].decode("utf-8"), chunk[_CHUNK][_UNPACKED])
            for group in fields.get(_GROUPS, [])
            for chunk in group[_COLUMNS]
        ]
        pairs = {pair[1]: pair.get(2, b"") for pair in fields.get(_METADATA, [])}
        metadata = {key.decode(): value.decode("utf-8", "replace") for key, value in pairs.items()}
        return Footer(int(fields[_ROWS]), columns, metadata, 0)
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError, struct.error):
        raise ValueError("its description is damaged") from None


_parse_once = lru_cache(128)(_parse)
"""The footer of a cell is read several times in a row: for its origin, its size, its content."""


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


# Untrusted Parquet files, checked before they are decoded.
#
# A few hundred kilobytes can unpack to gigabytes, by compression or by one long value that a
# dictionary repeats. The stated sizes are checked before decoding, and the actual sizes after it,
# because a file can state any size.

FRAME_BYTES: Final = 4 * 2**30
"""Maximum bytes of a table in memory."""
_FLOOR: Final = 512 * 2**20
_RATIO: Final = 100
"""A file of any size can unpack to 512 MiB, and beyond that to a hundred times its size."""
_TABLE_FLOOR: Final = 64 * 2**20
_ROWS_FLOOR: Final = 100_000
_CELL: Final = 16
"""Minimum bytes per value in memory, even if the file states none: an equal or missing value
repeated a million times takes a few bytes of a file.
"""
BATCH: Final = 64


def read_frame(
    path: str | Path,
    limit: int = FRAME_BYTES,
    columns: Sequence[str] | None = None,
    floor: int | None = None,
) -> pl.DataFrame:
    """Read a Parquet file, or `columns` of it, of at most `limit` bytes in memory.

    `floor` replaces the 512 MiB to which a file of any size can unpack.

    Raises as `open_regular` does, and FileFormatError for an invalid Parquet file, a missing
    column, or a file that unpacks to more than 512 MiB and a hundred times its own size.
    """
    import polars as pl

    with open_regular(path) as file:
        max_bytes = _check_size(path, file, limit, columns, floor)
    try:
        with _refusing_broken(path):
            # Given a path, polars maps the file; a star in the name is not a pattern.
            selection = None if columns is None else list(columns)
            frame = pl.read_parquet(Path(path), columns=selection, glob=False)
    except pl.exceptions.ColumnNotFoundError:
        schema = read_columns(path)
        missing = next((name for name in columns or () if name not in schema), "")
        raise FileFormatError(
            f"{path}: lacks the column {missing!r}; it has {', '.join(schema)}"
        ) from None
    if _length(frame) > max_bytes:
        raise _too_large(path, _length(frame), max_bytes)
    return frame


def read_table_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet table, such as responses: one of any size unpacks to 64 MiB.

    Raises as `read_frame` does, and FileFormatError for a file with more rows than bytes, or a
    value that Python cannot represent.
    """
    with open_regular(path) as file, _refusing_broken(path), suppress(ValueError):
        rows, size = read_footer(file).rows, file.seek(0, 2)
        if rows > max(_ROWS_FLOOR, size):
            raise FileFormatError(
                f"{path}: has {rows:,} rows in {size_text(size)}, more than one per byte; it is "
                "not a table of responses"
            )
    yield from _yield_rows(path, read_frame(path, floor=min(_TABLE_FLOOR, _FLOOR)))


def _yield_rows(path: str | Path, frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    try:
        yield from frame.iter_rows(named=True)
    except (ValueError, OverflowError) as error:  # such as a time after the year 9999
        name = next((values.name for values in frame.iter_columns() if not _is_plain(values)), "")
        raise FileFormatError(
            f"{path}: column {name!r}: a value cannot be read: {reason_of(error)}; remove the "
            "column, or write it as text"
        ) from None


def _is_plain(values: pl.Series) -> bool:
    try:
        values.to_list()
    except (ValueError, OverflowError):
        return False
    return True


def iter_frame(path: str | Path, limit: int = FRAME_BYTES) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file with pictures, 64 at a time.

    Raises as `read_frame` does; `limit` applies to each of these batches.
    """
    for frame in _iter_batches(path, limit):
        yield from _yield_rows(path, frame)


def _iter_batches(path: str | Path, limit: int = FRAME_BYTES) -> Iterator[pl.DataFrame]:
    import polars as pl

    with open_regular(path) as file:
        max_bytes, size = _check_size(path, file, None, None), 0
    with _refusing_broken(path):
        scan = pl.scan_parquet(Path(path), glob=False)
        for frame in scan.collect_batches(chunk_size=BATCH, engine="streaming", lazy=True):
            for batch in frame.iter_slices(BATCH):
                length = _length(batch)
                size += length
                if length > limit:
                    raise _too_large(path, length, limit)
                if size > max_bytes:
                    raise _too_large(path, size, max_bytes)
                yield batch


def read_columns(path: str | Path) -> dict[str, Any]:
    """Return the columns of a Parquet file with their types in polars; raises as `read_frame`."""
    import polars as pl

    with open_regular(path), _refusing_broken(path):
        return dict(pl.read_parquet_schema(Path(path)))


def join_frames(paths: Sequence[str | Path], target: Path) -> None:
    """Write the rows of Parquet files of one schema to `target`, in their order.

    Raises as `iter_frame` does, and FileFormatError if the schemas differ.
    """
    schemas = []
    for path in paths:
        schemas.append(read_columns(path))
        if schemas[-1] != schemas[0]:
            raise FileFormatError(
                f"{path}: has other columns than {paths[0]}: {schemas[-1]}, not {schemas[0]}"
            )
    write_frames(target, chain.from_iterable(map(_iter_batches, paths)), schemas[0], BATCH)


def write_frames(
    target: Path, frames: Iterable[pl.DataFrame], schema: dict[str, Any], group: int
) -> None:
    """Write frames of one schema to a Parquet file, a few in memory at a time.

    Args:
        target: The file.
        frames: Its rows, in order; their exceptions are raised here.
        schema: Polars' types of the columns.
        group: Rows of a row group.
    """
    from polars.io.plugins import register_io_source

    def source(*_: object) -> Iterator[pl.DataFrame]:
        return iter(frames)

    scan = register_io_source(source, schema=schema, is_pure=False)
    scan.sink_parquet(target, row_group_size=group, engine="streaming")


@contextmanager
def _refusing_broken(path: str | Path) -> Iterator[None]:
    """Raise FileFormatError for what polars raises on a broken file, except a missing column."""
    import polars as pl

    try:
        yield
    except pl.exceptions.ColumnNotFoundError:
        raise
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise _refuse_broken(path, error) from None
    except pl.exceptions.PanicException as panic:  # not a subclass of Exception
        raise _refuse_broken(path, RuntimeError(str(panic))) from None


def _check_size(
    path: str | Path,
    file: BinaryIO,
    limit: int | None,
    columns: Sequence[str] | None,
    floor: int | None = None,
) -> int:
    """Return the maximum uncompressed size after checking the stated sizes."""
    try:
        footer = read_footer(file)
    except (ValueError, OSError) as error:
        raise _refuse_broken(path, error) from None
    max_bytes = max(_FLOOR if floor is None else floor, _RATIO * file.seek(0, 2))
    max_bytes = max_bytes if limit is None else min(limit, max_bytes)
    names = None if columns is None else set(columns)
    selection = [c for c in footer.columns if names is None or c.name in names]
    stated = sum(max(0, column.size) for column in selection)
    if stated > max_bytes:
        raise _too_large(path, stated, max_bytes)
    cells = footer.rows * max(1, len({column.name for column in selection}))
    # Polars decodes a row group whole, which can be the file.
    if _CELL * cells > (most := min(max_bytes, FRAME_BYTES)):
        raise _too_large(path, _CELL * cells, most)
    return max_bytes


def _length(frame: pl.DataFrame) -> int:
    """Return the bytes of all values, with repeats.

    A text repeated by a dictionary is in memory once but is rebuilt for each row.
    """
    return sum(map(_column_length, frame.iter_columns()))


def _column_length(values: pl.Series) -> int:
    import polars as pl

    while values.dtype == pl.List:
        values = values.explode()
    if values.dtype == pl.Struct:
        return _length(values.struct.unnest())
    if values.dtype in (pl.Categorical, pl.Enum):
        counts = values.value_counts(name="n")
        lengths = counts.to_series(0).cast(pl.String).str.len_bytes().cast(pl.Int64)
        return int((lengths * counts["n"].cast(pl.Int64)).sum() or 0)
    if values.dtype == pl.String:
        return int(values.str.len_bytes().cast(pl.Int64).sum() or 0)
    if values.dtype == pl.Binary:
        return int(values.bin.size().cast(pl.Int64).sum() or 0)
    return int(values.estimated_size())


def _too_large(path: str | Path, size: int, max_bytes: int) -> FileFormatError:
    return FileFormatError(
        f"{path}: unpacks to {size_text(size)}, but at most {size_text(max_bytes)} are read from "
        "a file of its size; split the file, or give the right one"
    )


def _refuse_broken(path: str | Path, error: Exception) -> FileFormatError:
    cause = re.sub(r"\s+", " ", reason_of(error))[:200]
    return FileFormatError(f"{path}: is not a Parquet file: {cause}")
