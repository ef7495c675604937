"""File types by their first bytes, and the rows of JSON, JSON Lines, CSV, TSV and Parquet files.

Input is untrusted: only regular files are read; sizes, line lengths and depths are limited, and
compressed data counts by its uncompressed size.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Literal, cast

from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.files.parquet import read_table_rows
from omibench.files.reading import open_regular, parse_json, read_csv

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
        whole_row = first.rstrip().endswith(b"}") and later_lines.strip()
        one_document = path.suffix == ".json" and not whole_row
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
        yield from read_table_rows(path)
        return
    for row in read_csv(path, "\t" if kind == "tsv" else ","):
        yield {name: value if value != "" else None for name, value in row.items()}


# Conversion of values from other tools: texts in lists, lists in texts, options by letter.

CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NEVER_CAME: Final = frozenset((
    "failed to obtain answer via api.", "failed to obtain answer via api",
    "no response (bad request).",
))  # fmt: skip
"""Predictions that VLMEvalKit and simple-evals write if an endpoint failed."""
_QUOTED: Final = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_BETWEEN: Final = re.compile(r"\s*,?\s*")


def extract_text(value: Any) -> str | None:
    """Return one text: the first of nested lists; numbers and truth values as written."""
    while isinstance(value, list | tuple) and value:
        value = value[0]
    if value is None or isinstance(value, list | tuple | dict):
        return None
    return value if isinstance(value, str) else plain(value)


def extract_texts(value: Any) -> list[str]:
    """Return every text of a value in order; for a list in a text (`['a', 'b']`), its entries."""
    if isinstance(value, str):
        return parse_list(value) or ([value] if value.strip() else [])
    if isinstance(value, list | tuple):
        return [text for entry in value if (text := extract_text(entry)) is not None]
    text = extract_text(value)
    return [] if text is None else [text]


def plain(value: object) -> str:
    """Format a number without a spurious decimal: 3 for 3.0, as tables store whole numbers."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return str(int(value)) if is_whole and isinstance(value, float) else str(value)


def parse_options(value: Any) -> dict[str, str] | None:
    """Return options by label from a list, an object, a text of either, or parallel lists."""
    if isinstance(value, str):
        value = _load_json(value) or parse_list(value)
    if isinstance(value, Mapping):
        texts, labels = value.get("text"), value.get("label")
        if isinstance(texts, Sequence) and isinstance(labels, Sequence) and len(value) == 2:
            pairs = zip(map(str, labels), texts, strict=False)
            return {label: extract_text(text) or "" for label, text in pairs} or None
        return {str(label): extract_text(text) or "" for label, text in value.items()} or None
    if isinstance(value, list | tuple):
        texts = [extract_text(option) or "" for option in value[: len(CAPITALS)]]
        return dict(zip(CAPITALS, texts, strict=False)) or None
    return None


def read_option_columns(row: Mapping[str, Any]) -> dict[str, str] | None:
    """Return options from columns A, B, C, ...: the non-empty ones, up to the last of them."""
    options = {
        label: text
        for label in CAPITALS
        if (text := extract_text(row.get(label))) not in (None, "")
    }
    return {label: str(text) for label, text in options.items()} if len(options) > 1 else None


def parse_list(text: str) -> list[str] | None:
    """Parse a list in a text, as JSON or Python; None if it is not a list."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    value = _load_json(text)
    if isinstance(value, list):
        return [entry for item in value if (entry := extract_text(item)) is not None]
    entries, at, inner = list[str](), 0, text[1:-1].strip()
    while at < len(inner):
        match = _QUOTED.match(inner, at)
        if match is None:
            return None
        entries.append(re.sub(r"\\(.)", r"\1", match[1] if match[1] is not None else match[2]))
        between = _BETWEEN.match(inner, match.end())
        at = between.end() if between else len(inner)
    return entries or None


def _load_json(text: str) -> Any:
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# Options in the text of a question: lines A) ... B) ... at its end.

_LINE: Final = re.compile(r"^[ \t]*\(?([A-Z])[).:][ \t]+(\S.*)$", re.MULTILINE)


def options_in_question(question: str) -> dict[str, str] | None:
    """Return the last run of lines that begin with A), B), ... in order; None for under two."""
    runs: list[dict[str, str]] = [{}]
    for label, text in _LINE.findall(question):
        if label == "A":
            runs.append({})
        if label == CAPITALS[len(runs[-1]) : len(runs[-1]) + 1]:
            runs[-1][label] = text.strip()
    return runs[-1] if len(runs[-1]) > 1 else None


# One response in the common form of all formats: the scoring columns, and the rest.

COLUMNS: Final = (
    "id", "index", "model", "task", "group", "question", "choices", "gold", "answer_type",
    "prediction", "finish_reason",
)  # fmt: skip
"""Columns of a record, in the order of the file of verdicts."""
ANY_OF: Final = "any_of"
"""Marks a gold answer whose entries are alternatives: any of them is correct. omibench's own gold
answers are one answer in parts, all of which are required.
"""


OUTCOME: Final = "outcome_of_asking"
"""Reason why a response is missing or was refused."""


def record(values: Mapping[str, Any], extras: Mapping[str, Any]) -> Row:
    """Build a row of the scoring columns and the other fields as plain values.

    A file column with one of these names is kept as `input_<name>`.
    """
    row = {
        name: values[name] for name in (*COLUMNS, ANY_OF, OUTCOME) if values.get(name) is not None
    }
    row["prediction"] = values.get("prediction")
    plain_extras = {
        (f"input_{name}" if name in row else name): value
        for name, value in extras.items()
        if value is None or isinstance(value, str | int | float | bool)
    }
    return row | {name: value for name, value in plain_extras.items() if name not in row}


def build_gold(entries: Sequence[str], choices: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the gold columns for other tools: entries of an open answer are alternatives."""
    alternatives = {ANY_OF: True} if len(entries) > 1 and not choices else {}
    return {"gold": list(entries), "answer_type": "mcq" if choices else "open", **alternatives}
