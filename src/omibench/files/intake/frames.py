"""Untrusted Parquet files, checked before they are decoded.

A few hundred kilobytes can unpack to gigabytes, by compression or by one long value that a
dictionary repeats. The stated sizes are checked before decoding, and the actual sizes after it,
because a file can state any size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from omibench.errors import FileFormatError, reason_of
from omibench.files.intake.footer import read_footer
from omibench.files.intake.regular import open_regular, size_text

if TYPE_CHECKING:
    import polars as pl

FRAME_BYTES: Final = 4 * 2**30
"""Maximum bytes of a table in memory."""
_FLOOR: Final = 512 * 2**20
_RATIO: Final = 100
"""A file of any size can unpack to 512 MiB, and beyond that to a hundred times its size."""
_CELLS: Final = 2_000_000_000
_CELL: Final = 16
"""Minimum bytes per value in memory, even if the file states none: an equal or missing value
repeated a million times takes a few bytes of a file.
"""
BATCH: Final = 64


def read_frame(
    path: str | Path, limit: int = FRAME_BYTES, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Read a Parquet file, or `columns` of it, of at most `limit` bytes in memory.

    Raises as `open_regular` does, and FileFormatError for an invalid Parquet file, a missing
    column, or a file that unpacks to more than 512 MiB and a hundred times its own size.
    """
    import polars as pl

    with open_regular(path) as file:
        max_bytes = _check_size(path, file, limit, columns)
    try:
        # Given a path, polars maps the file; a star in the name is not a pattern.
        selection = None if columns is None else list(columns)
        frame = pl.read_parquet(Path(path), columns=selection, glob=False)
    except pl.exceptions.ColumnNotFoundError:
        schema = pl.read_parquet_schema(Path(path))
        missing = next((name for name in columns or () if name not in schema), "")
        raise FileFormatError(
            f"{path}: lacks the column {missing!r}; it has {', '.join(schema)}"
        ) from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _refuse_broken(path, error) from None
    except pl.exceptions.PanicException as panic:  # not a subclass of Exception
        raise _refuse_broken(path, RuntimeError(str(panic))) from None
    if _length(frame) > max_bytes:
        raise _too_large(path, _length(frame), max_bytes)
    return frame


def iter_frame(path: str | Path, limit: int = FRAME_BYTES) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file with pictures, 64 in memory at a time.

    Raises as `read_frame` does; `limit` applies to each of these batches.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_regular(path) as file:
        _check_size(path, file, None, None)
        file.seek(0)
        try:
            with pq.ParquetFile(file) as table:
                for batch in table.iter_batches(BATCH):
                    if batch.nbytes > limit:
                        raise _too_large(path, batch.nbytes, limit)
                    yield from batch.to_pylist()
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _refuse_broken(path, error) from None


def join_frames(paths: Sequence[str | Path], target: Path) -> None:
    """Write the rows of Parquet files of one schema to `target`, in their order.

    Raises as `iter_frame` does, and FileFormatError if the schemas differ.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: pq.ParquetWriter | None = None
    try:
        for path in paths:
            with open_regular(path) as file:
                _check_size(path, file, None, None)
                file.seek(0)
                try:
                    with pq.ParquetFile(file) as table:
                        writer = writer or pq.ParquetWriter(target, table.schema_arrow)
                        for batch in table.iter_batches(BATCH):
                            if batch.nbytes > FRAME_BYTES:
                                raise _too_large(path, batch.nbytes, FRAME_BYTES)
                            writer.write_batch(batch)
                except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
                    raise _refuse_broken(path, error) from None
    finally:
        if writer is not None:
            writer.close()


def _check_size(
    path: str | Path, file: BinaryIO, limit: int | None, columns: Sequence[str] | None
) -> int:
    """Return the maximum uncompressed size after checking the stated sizes."""
    try:
        footer = read_footer(file)
    except (ValueError, OSError) as error:
        raise _refuse_broken(path, error) from None
    max_bytes = max(_FLOOR, _RATIO * file.seek(0, 2))
    max_bytes = max_bytes if limit is None else min(limit, max_bytes)
    names = None if columns is None else set(columns)
    selection = [c for c in footer.columns if names is None or c.name in names]
    stated = sum(max(0, column.size) for column in selection)
    if stated > max_bytes:
        raise _too_large(path, stated, max_bytes)
    cells = footer.rows * max(1, len({column.name for column in selection}))
    if limit is not None and _CELL * cells > max_bytes:
        raise _too_large(path, _CELL * cells, max_bytes)
    if cells > _CELLS:
        raise FileFormatError(f"{path}: has {footer.rows:,} rows; split the file")
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
