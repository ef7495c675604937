"""CSV that others wrote, with bounds on fields and rows."""

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
    """A row of a CSV file and the line on which it begins, from 1 for the line of the names."""

    line: int
    cells: dict[str, str]


def read_csv(
    path: str | Path, delimiter: str = ",", limit: int | None = FILE_BYTES
) -> Iterator[dict[str, str]]:
    """The rows of a UTF-8 CSV file by the names in its first row, one in memory at a time.

    A cell that is not there is an empty text; what stands beyond the last name is left aside. At
    most `limit` bytes, 10 million rows and 16 Mi characters a field. Raises as `open_regular`
    does, and FileFormatError with the line for what is no CSV.
    """
    return (row.cells for row in read_numbered_csv(path, delimiter, limit))


def read_numbered_csv(
    path: str | Path, delimiter: str = ",", limit: int | None = FILE_BYTES
) -> Iterator[NumberedRow]:
    """The rows that `read_csv` gives, each with its line: a quoted cell may hold several lines."""
    with (
        open_regular(path, limit) as file,
        io.TextIOWrapper(file, "utf-8-sig", newline="") as lines,
    ):
        # The module has one limit for the whole process, 131,072, which long answers exceed.
        csv.field_size_limit(max(FIELD_CHARS, csv.field_size_limit()))
        reader = csv.DictReader(lines, delimiter=delimiter, restkey=None, restval="")
        try:
            last_line = reader.reader.line_num if reader.fieldnames else 0
            for number, row in enumerate(reader, 1):
                if number > ROWS:
                    raise FileFormatError(f"{path}: has more than {ROWS:,} rows: split the file")
                row.pop(None, None)
                yield NumberedRow(last_line + 1, row)
                last_line = reader.reader.line_num
        except csv.Error as error:
            line = reader.reader.line_num
            raise FileFormatError(f"{path}, line {line}: is not CSV: {error}") from None
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{path}: {reason_of(error)}") from None
