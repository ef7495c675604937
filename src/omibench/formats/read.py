"""Response files of any tool, as rows of the columns used for scoring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from omibench.errors import FileFormatError
from omibench.files.intake import read_text
from omibench.formats import inspect_log, lmms_eval, named, simple_evals, vlmevalkit
from omibench.formats.content import (
    DOCUMENT_BYTES,
    Row,
    detect_kind,
    json_document,
    json_rows,
    table_rows,
)
from omibench.formats.packed import open_packed
from omibench.formats.workbook import workbook_rows


def raw_rows(path: Path, columns: Mapping[str, str] | None = None) -> Iterator[Row]:
    """Read the rows of a file: JSON Lines, JSON, Parquet, CSV, TSV, Excel, or a log of another
    tool.

    With `columns` (scoring name -> column of the file), a table is read by this mapping. The
    caller validates the rows of an omibench file. Raises MissingInputError for a missing path or
    a path that is not a file, and FileFormatError if it cannot be read.
    """
    kind = detect_kind(path)
    if kind == "zip":
        with open_packed(path) as packed:
            if inspect_log.is_packed(packed.names):
                yield from inspect_log.packed_rows(packed, path)
                return
            if "xl/workbook.xml" not in packed.names:
                raise FileFormatError(
                    f"{path}: is a zip file, but neither an Excel workbook nor a log of inspect"
                )
        yield from _table(workbook_rows(path), path, columns)
    elif kind == "json":
        yield from _document(json_document(path), path, columns)
    elif kind == "html":
        records = list(simple_evals.report_rows(read_text(path, DOCUMENT_BYTES), path))
        if not records:
            raise FileFormatError(f"{path}: is a web page, but not a report of simple-evals")
        yield from records
    elif kind == "lines":
        yield from _table(json_rows(path), path, columns)
    else:
        yield from _table(table_rows(path, kind), path, columns)


def _document(value: Any, path: Path, columns: Mapping[str, str] | None) -> Iterator[Row]:
    if inspect_log.is_document(value):
        yield from inspect_log.document_rows(value, path)
    elif simple_evals.is_document(value):
        yield from simple_evals.document_rows(value, path)
    elif simple_evals.is_metrics(value):
        raise FileFormatError(
            f"{path}: contains only metrics, no responses; of simple-evals give the "
            "_allresults.json or the .html file in the same folder"
        )
    else:
        rows = value if isinstance(value, list) else [value]
        for number, row in enumerate(rows, 1):
            if not isinstance(row, dict):
                raise FileFormatError(f"{path}, row {number}: is not a JSON object")
        yield from _table(iter(rows), path, columns)


def _table(raw: Iterator[Row], path: Path, columns: Mapping[str, str] | None) -> Iterator[Row]:
    """Parse rows in the format of the first row."""
    first = next(raw, None)
    if first is None:
        return
    rows = chain([first], raw)
    if columns:
        yield from named.rows(rows, columns, path)
    elif {"prediction", "gold"} <= first.keys():
        yield from rows
    elif lmms_eval.is_row(first):
        yield from lmms_eval.rows(rows, path)
    elif vlmevalkit.is_row(first):
        yield from vlmevalkit.rows(rows)
    else:
        yield from rows
