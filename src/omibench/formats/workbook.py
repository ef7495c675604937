"""First sheet of an Excel workbook, as written by VLMEvalKit; needs openpyxl, an extra.

A workbook is XML in a zip file: its uncompressed size, rows and cells are limited.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError, reason_of
from omibench.extras import require_extra
from omibench.files.intake import read_bytes
from omibench.formats.content import Row
from omibench.formats.packed import open_packed
from omibench.formats.values import plain

FILE_BYTES: Final = 256 * 2**20
UNPACKED_BYTES: Final = 256 * 2**20
CELLS: Final = 20_000_000
"""Rows times columns, including gaps: a single cell in the last corner makes 17 billion."""
TEXT_CHARS: Final = 2**29
"""Total characters of all cells: one text can occur in many of them."""


def workbook_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of the first sheet by the names in its first row; empty cells are None.

    Raises MissingExtraError if openpyxl is not installed, FileFormatError for a workbook that is
    broken or too large.
    """
    require_extra("xlsx", f"{path}: reading Excel files", note=", or save the sheet as .tsv")
    import openpyxl

    with open_packed(path) as packed:
        if packed.unpacked_bytes > UNPACKED_BYTES:
            raise FileFormatError(f"{path}: unpacks to more than 256 MiB; save the sheet as .tsv")
    content = io.BytesIO(read_bytes(path, FILE_BYTES))
    try:
        book = openpyxl.load_workbook(content, read_only=True, data_only=True, keep_links=False)
        sheet = book.worksheets[0]
        # The size stated by a sheet is not reliable.
        sheet.reset_dimensions()
        yield from _rows(sheet.iter_rows(values_only=True), path)
    except FileFormatError:
        raise
    except Exception as error:  # openpyxl raises arbitrary errors on invalid XML
        cause = reason_of(error)[:200]
        raise FileFormatError(f"{path}: is not an Excel workbook: {cause}") from None


def _rows(values: Iterator[tuple[Any, ...]], path: Path) -> Iterator[Row]:
    header = [str(name) if name is not None else "" for name in next(values, ())]
    cells = chars = 0
    for row in values:
        cells += max(1, len(row))
        chars += sum(len(value) for value in row if isinstance(value, str))
        if cells > CELLS or chars > TEXT_CHARS:
            raise FileFormatError(f"{path}: has too many cells; save the sheet as .tsv")
        if any(value is not None for value in row):
            pairs = zip(header, row, strict=False)
            yield {name: _value(value) for name, value in pairs if name}


def _value(value: Any) -> Any:
    return value if value is None or isinstance(value, str | bool) else plain(value)
