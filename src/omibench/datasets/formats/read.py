"""Response files of any tool, plain, packed or in workbooks, as rows to score."""

from __future__ import annotations

import io
import lzma
import struct
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

from omibench.datasets.formats import named
from omibench.datasets.formats.harnesses import (
    emma_rows,
    is_emma_row,
    is_lmms_eval_row,
    is_simple_evals_document,
    is_simple_evals_metrics,
    is_vlmevalkit_row,
    list_by_id,
    lmms_eval_rows,
    simple_evals_report_rows,
    simple_evals_rows,
    vlmevalkit_rows,
)
from omibench.datasets.formats.record import (
    ANY_OF,
    DOCUMENT_BYTES,
    OUTCOME,
    Row,
    build_gold,
    detect_kind,
    extract_text,
    extract_texts,
    json_document,
    json_rows,
    parse_options,
    plain,
    record,
    table_rows,
)
from omibench.errors import FileFormatError, reason_of
from omibench.extras import require_extra
from omibench.files.reading import open_regular, parse_json, read_bytes, read_text
from omibench.schemas.request import Outcome

# Members of a zip file from another tool, unpacked up to their stated size.
#
# Inspect compresses its logs with Zstandard, which Python's own module reads from 3.14 on.

MEMBER_BYTES: Final = 256 * 2**20
MEMBERS: Final = 1_000_000
_PACKED_BYTES: Final = 4096
"""Bytes unpacked at once: Zstandard can make 32,000 times as many of them."""


def _import_zipfile() -> tuple[Any, tuple[type[Exception], ...]]:
    """Return the module that reads Zstandard as well, and what it raises on broken files."""
    if sys.version_info >= (3, 14):
        import zipfile

        from compression.zstd import ZstdError
    else:
        from backports.zstd import ZstdError, zipfile
    broken = (
        zipfile.BadZipFile, ZstdError, lzma.LZMAError, zlib.error, struct.error,
        OSError, EOFError, ValueError, RuntimeError,
    )  # fmt: skip
    return zipfile, broken


class Packed:
    """An open zip file: `names` in its order, and `read` for one member."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        zipfile, self._broken = _import_zipfile()
        self._path = path
        try:
            self._zip = zipfile.ZipFile(file)
        except self._broken as error:
            raise self._wrap_error(error) from None
        self.names = self._zip.namelist()
        if len(self.names) > MEMBERS:
            raise FileFormatError(f"{path}: contains more than {MEMBERS:,} files")

    @property
    def unpacked_bytes(self) -> int:
        """Total uncompressed size, as stated by the file."""
        return sum(info.file_size for info in self._zip.infolist())

    def read(self, name: str, limit: int = MEMBER_BYTES) -> bytes:
        """Return a member's content. Raises FileFormatError if above `limit` or broken."""
        content = bytearray()
        try:
            with self._zip.open(name) as member:
                while len(content) <= limit and (part := member.read1(_PACKED_BYTES)):
                    content += part
        except self._broken as error:
            raise self._wrap_error(error) from None
        if len(content) > limit:
            raise FileFormatError(f"{self._path}: {name[:80]!r} unpacks to more than {limit} bytes")
        return bytes(content)

    def _wrap_error(self, error: Exception) -> FileFormatError:
        return FileFormatError(f"{self._path}: is a broken zip file: {reason_of(error)[:200]}")


@contextmanager
def open_packed(path: Path) -> Iterator[Packed]:
    """Open a zip file as a context. Raises FileFormatError if it is not one."""
    with open_regular(path) as file:
        yield Packed(path, file)


# First sheet of an Excel workbook, as written by VLMEvalKit; needs openpyxl, an extra.
#
# A workbook is XML in a zip file: its uncompressed size, rows and cells are limited.

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


# Inspect logs: `.eval`, a zip file with a JSON file for each sample, and `.json`.
#
# Of each sample, `id`, `epoch`, `input`, `choices`, `target`, `output` and `error` are read;
# responses of tools and the transcript are not. A log written by omibench is marked in its header;
# its targets are answers in parts, and its samples can contain the group and the labels of their
# choices.

TOOL: Final = "inspect"
HEADER: Final = "header.json"
_STARTED: Final = "_journal/start.json"
_STOPPED: Final = {"max_tokens": "length", "model_length": "length"}


def is_packed(names: list[str]) -> bool:
    """Return whether the members of a zip file are those of such a log, even a truncated one."""
    return HEADER in names or _STARTED in names


def is_document(value: Any) -> bool:
    """Return whether a JSON value is such a log."""
    return isinstance(value, dict) and isinstance(value.get("eval"), dict) and "status" in value


def packed_rows(packed: Packed, path: Path) -> Iterator[Row]:
    """Yield the records of a log in a zip file, in its order."""
    head = HEADER if HEADER in packed.names else _STARTED
    header = parse_json(packed.read(head), f"{path}, {head}", lenient=True)
    run_details, is_ours = _read_header(header), _is_written_by_omibench(header)
    for name in packed.names:
        if name.startswith("samples/") and name.endswith(".json"):
            place = f"{path}, {name[:120]}"
            sample = parse_json(packed.read(name), place, lenient=True)
            yield _row(sample, run_details, place, is_ours=is_ours)


def document_rows(value: Mapping[str, Any], path: Path) -> Iterator[Row]:
    """Yield the records of a log that is one JSON object."""
    run_details, is_ours = _read_header(value), _is_written_by_omibench(value)
    samples = value.get("samples")
    if not isinstance(samples, list):
        raise FileFormatError(f"{path}: is the header of an inspect log, without its samples")
    for number, sample in enumerate(samples, 1):
        yield _row(sample, run_details, f"{path}, sample {number}", is_ours=is_ours)


def _read_header(header: Any) -> dict[str, Any]:
    run = header.get("eval") if isinstance(header, dict) else None
    return {name: extract_text(run.get(name)) for name in ("task", "model")} if run else {}


def _is_written_by_omibench(header: Any) -> bool:
    run = header.get("eval") if isinstance(header, dict) else None
    return isinstance(run, dict) and "omibench" in _object(run, "metadata")


def _row(sample: Any, run_details: Mapping[str, Any], place: str, *, is_ours: bool) -> Row:
    if not isinstance(sample, dict) or "target" not in sample:
        raise FileFormatError(f"{place}: is not a sample of inspect; it has no 'target'")
    facts = _object(sample, "metadata") if is_ours else {}
    choices = _name_choices(parse_options(sample.get("choices")), facts.get("choice_labels"))
    prediction, stopped = _read_answer(_object(sample, "output"))
    epoch = sample.get("epoch")
    columns = {
        **run_details,
        "id": extract_text(sample.get("id")), "index": epoch - 1 if isinstance(epoch, int) else 0,
        "question": _extract_message(sample.get("input")), "choices": choices,
        "prediction": prediction,
        "finish_reason": _STOPPED.get(stopped or "", stopped),
        OUTCOME: _outcome(sample, prediction, stopped),
        **build_gold(extract_texts(sample["target"]), choices),
        **({ANY_OF: None, "group": extract_text(facts.get("group"))} if is_ours else {}),
    }  # fmt: skip
    values = {
        f"inspect_{name}": extract_text(score.get("value"))
        for name, score in _object(sample, "scores").items()
        if isinstance(score, dict)
    }
    return record(columns, values)


def _name_choices(choices: dict[str, str] | None, labels: Any) -> dict[str, str] | None:
    """Return choices with their labels, if these differ from A, B, ..."""
    if choices is None or not isinstance(labels, list) or len(labels) != len(choices):
        return choices
    return dict(zip(map(str, labels), choices.values(), strict=True))


def _object(sample: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = sample.get(name)
    return value if isinstance(value, dict) else {}


def _outcome(sample: Mapping[str, Any], prediction: str, stopped: str | None) -> Outcome | None:
    """Return why a sample has no response; None if it has one."""
    if prediction:
        return None
    if stopped == "content_filter":
        return "refused"
    return "provider_error" if sample.get("error") else None


def _read_answer(output: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the last message of the model and its stop reason."""
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        return extract_text(output.get("completion")) or "", None
    message = _extract_message(first["message"].get("content"))
    return message or extract_text(output.get("completion")) or "", extract_text(
        first.get("stop_reason")
    )


def _extract_message(content: Any) -> str | None:
    """Return the text of a message or of its text parts; of a conversation, the last question."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part for part in content if isinstance(part, dict)]
    questions = [part for part in parts if part.get("role") == "user"]
    if questions:
        return _extract_message(questions[-1].get("content"))
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "\n".join(texts) or None


# Response files of any tool, as rows of the columns used for scoring.


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
            if is_packed(packed.names):
                yield from packed_rows(packed, path)
                return
            if "xl/workbook.xml" not in packed.names:
                raise FileFormatError(
                    f"{path}: is a zip file, but neither an Excel workbook nor a log of inspect"
                )
        yield from _table(workbook_rows(path), path, columns)
    elif kind == "json":
        yield from _document(json_document(path), path, columns)
    elif kind == "html":
        records = list(simple_evals_report_rows(read_text(path, DOCUMENT_BYTES), path))
        if not records:
            raise FileFormatError(f"{path}: is a web page, but not a report of simple-evals")
        yield from records
    elif kind == "lines":
        yield from _table(json_rows(path), path, columns)
    else:
        yield from _table(table_rows(path, kind), path, columns)


def _document(value: Any, path: Path, columns: Mapping[str, str] | None) -> Iterator[Row]:
    if is_document(value):
        yield from document_rows(value, path)
    elif is_simple_evals_document(value):
        yield from simple_evals_rows(value, path)
    elif is_simple_evals_metrics(value):
        raise FileFormatError(
            f"{path}: contains only metrics, no responses; of simple-evals give the "
            "_allresults.json or the .html file in the same folder"
        )
    else:
        rows = value if isinstance(value, list) else list_by_id(value)
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
    elif is_lmms_eval_row(first):
        yield from lmms_eval_rows(rows, path)
    elif is_vlmevalkit_row(first):
        yield from vlmevalkit_rows(rows)
    elif is_emma_row(first):
        yield from emma_rows(rows)
    else:
        yield from rows
