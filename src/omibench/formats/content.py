"""File types by their first bytes, and the rows of JSON, JSON Lines, CSV, TSV and Parquet files.

Input is untrusted: only regular files are read; sizes, line lengths and depths are limited, and
compressed data counts by its uncompressed size.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, Literal, cast

from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.files.intake import open_regular, parse_json, read_csv, read_frame

Kind = Literal["parquet", "zip", "json", "lines", "html", "csv", "tsv"]
Row = dict[str, Any]

UNPACKED_BYTES: Final = 16 * 2**30
LINE_BYTES: Final = 64 * 2**20
DOCUMENT_BYTES: Final = 2**30
_HEAD: Final = 64 * 2**10
_GZIP: Final = b"\x1f\x8b"


def detect_kind(path: Path) -> Kind:
    """Return the type of a file. Raises MissingInputError if it is missing or a folder."""
    if path.is_dir():
        raise MissingInputError(f"{path}: is a folder; give files in it, or an id with --explain")
    with open_regular(path) as file:
        head = file.read(_HEAD)
    if head[:4] == b"PAR1" or path.suffix == ".parquet":
        return "parquet"
    if head[:2] == _GZIP or path.suffix == ".gz":
        return "lines"
    if head[:4] == b"PK\x03\x04":
        return "zip"
    return _detect_text_kind(head.removeprefix(b"\xef\xbb\xbf").lstrip(), path)


def _detect_text_kind(head: bytes, path: Path) -> Kind:
    first, _, later_lines = head.partition(b"\n")
    if head[:1] == b"[" or (head[:1] == b"{" and first.strip() == b"{"):
        return "json"
    if head[:1] == b"<":
        return "html"
    if head[:1] == b"{" or path.suffix in (".jsonl", ".ndjson"):
        one_document = path.suffix == ".json" and not later_lines.strip()
        return "json" if one_document else "lines"
    if path.suffix == ".json":
        return "json"
    return "tsv" if b"\t" in first else "csv"


def json_document(path: Path) -> Any:
    """Return the value of a JSON file of at most 1 GiB."""
    with open_regular(path, DOCUMENT_BYTES) as file:
        return parse_json(file.read(), str(path), lenient=True)


def json_rows(path: Path) -> Iterator[Row]:
    """Yield the objects of a JSON Lines file, optionally gzipped; empty lines are skipped."""
    number = spent = 0
    with open_regular(path) as file:
        packed = path.suffix == ".gz" or file.read(2) == _GZIP
        file.seek(0)
        lines = cast(IO[bytes], gzip.GzipFile(fileobj=file)) if packed else file
        while line := _line(lines, path):
            spent += len(line)
            if len(line) > LINE_BYTES or spent > UNPACKED_BYTES:
                raise FileFormatError(f"{path}: a row exceeds 64 MiB, or the file 16 GiB")
            if not line.strip():
                continue
            number += 1
            place = f"{path}, row {number}"
            row = parse_json(line, place, lenient=True)
            if not isinstance(row, dict):
                raise FileFormatError(f"{place}: is not a JSON object")
            yield row


def _line(lines: IO[bytes], path: Path) -> bytes:
    try:
        return lines.readline(LINE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path}: cannot be read: {reason_of(error)}") from None


def table_rows(path: Path, kind: Kind) -> Iterator[Row]:
    """Yield the rows of a Parquet, CSV or TSV file; empty text cells are None."""
    if kind == "parquet":
        yield from read_frame(path).iter_rows(named=True)
        return
    for row in read_csv(path, "\t" if kind == "tsv" else ","):
        yield {name: value if value != "" else None for name, value in row.items()}
