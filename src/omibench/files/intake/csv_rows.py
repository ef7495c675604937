"""Untrusted CSV, with bounds on fields and rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import FileFormatError, reason_of
from omibench.files.intake.regular import FILE_BYTES, open_regular

FIELD_CHARS: Final = 16 * 2**20
ROWS: Final = 10_000_000


class NumberedRow(NamedTuple):
    """A row of a CSV file and its first line number; the header is line 1."""

    line: int
    cells: dict[str, str]


def read_csv(
    path: str | Path, delimiter: str = ",", limit: int | None = FILE_BYTES
) -> Iterator[dict[str, str]]:
    """Yield the rows of a UTF-8 CSV file by column name, one in memory at a time.

    A missing cell is an empty text; cells beyond the header are ignored. Limits are `limit`
    bytes, 10 million rows and 16 Mi characters per field. Raises as `open_regular` does, and
    FileFormatError with the line for invalid CSV.
    """
    return (row.cells for row in read_numbered_csv(path, delimiter, limit))


def read_numbered_csv(
    path: str | Path, delimiter: str = ",", limit: int | None = FILE_BYTES
) -> Iterator[NumberedRow]:
    """Yield the rows of `read_csv` with line numbers: a quoted cell can span several lines."""
    with (
        open_regular(path, limit) as file,
        io.TextIOWrapper(file, "utf-8-sig", newline="") as lines,
    ):
        # The csv module has a process-wide limit of 131,072, which long responses exceed.
        csv.field_size_limit(max(FIELD_CHARS, csv.field_size_limit()))
        reader = csv.DictReader(lines, delimiter=delimiter, restkey=None, restval="")
        try:
            last_line = reader.reader.line_num if reader.fieldnames else 0
            for number, row in enumerate(reader, 1):
                if number > ROWS:
                    raise FileFormatError(f"{path}: has more than {ROWS:,} rows; split the file")
                row.pop(None, None)
                yield NumberedRow(last_line + 1, row)
                last_line = reader.reader.line_num
        except csv.Error as error:
            line = reader.reader.line_num
            raise FileFormatError(f"{path}, line {line}: is not CSV: {error}") from None
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{path}: {reason_of(error)}") from None
