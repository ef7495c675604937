"""The Parquet files of a release: looked at before they are unpacked, then read row by row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError
from omibench.files.intake import iter_frame, open_regular
from omibench.files.intake.footer import read_footer
from omibench.files.intake.regular import size_text

TABLE_BYTES: Final = 4 * 2**30
"""The most bytes of one file."""
BATCH_BYTES: Final = 2**30
"""The most bytes of 64 rows."""
_FLOOR: Final = 256 * 2**20
_RATIO: Final = 8
"""A table may unpack to 256 MiB, or to eight times its size: pictures hardly shrink."""


def iter_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of one file, pictures included, a few in memory at a time.

    Raises:
        MissingInputError: It is not there, or no regular file.
        FileFormatError: It is no Parquet file, larger than 4 GiB, or unpacks to more than a
            release's file of its size does.
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
            f"{path}: unpacks to {size_text(stated)}; a release's file of its size to at most "
            f"{size_text(most)}"
        )
    yield from iter_frame(path, BATCH_BYTES)
