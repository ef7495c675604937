"""Parquet files of a release, checked before they are unpacked, then read row by row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError
from omibench.files.intake import iter_frame, open_regular
from omibench.files.intake.footer import read_footer
from omibench.files.intake.regular import size_text

TABLE_BYTES: Final = 4 * 2**30
"""Maximum bytes of one file."""
BATCH_BYTES: Final = 2**30
"""Maximum bytes of 64 rows."""
_FLOOR: Final = 256 * 2**20
_RATIO: Final = 8
"""A table can unpack to 256 MiB, or to eight times its size: pictures hardly compress."""


def iter_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of one file, pictures included, a few in memory at a time.

    Raises:
        MissingInputError: If it is missing or not a regular file.
        FileFormatError: If it is not a Parquet file, exceeds 4 GiB, or unpacks to more than the
            limit for its size.
    """
    with open_regular(path, TABLE_BYTES) as file:
        size = file.seek(0, 2)
        try:
            footer = read_footer(file)
        except (ValueError, OSError) as error:
            raise FileFormatError(f"{path}: is not a Parquet file: {error}") from None
    stated = sum(max(0, column.size) for column in footer.columns)
    most = max(_FLOOR, _RATIO * size)
    if stated > most:
        raise FileFormatError(
            f"{path}: unpacks to {size_text(stated)}; the limit for a release's file of its size "
            f"is {size_text(most)}"
        )
    yield from iter_frame(path, BATCH_BYTES)
