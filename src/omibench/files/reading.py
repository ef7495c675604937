"""Read files of others within bounds: paths, bytes, hashes, CSV and JSON."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.text.masking import replace_surrogates

# Containment of paths given in a file within their base folder.


def resolve_within(folder: str | Path, name: str) -> Path:
    """Return the path of `name` in `folder`; it need not exist.

    Raises FileFormatError for a name that is absolute, contains `..` or is not a path, and if a
    link leads out of the folder. The folder itself can be reached by a link.
    """
    return Container(folder).path(name)


NAME_BYTES: Final = 2048
"""Maximum bytes of a path in a folder: systems allow 4,096 for the whole path."""


class Container:
    """A base folder that contains all paths; efficient for many names."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = folder
        self._root = os.path.realpath(folder)
        self._inside: dict[str, bool] = {}

    def path(self, name: str) -> Path:
        """Return the path of a name. Raises as `contained` does."""
        parts = name.replace("\\", "/").split("/")
        if not name.strip("./") or not _can_be_path(name):
            raise FileFormatError(f"{self._folder}: {name[:200]!r} is not a path of a file")
        if not parts[0] or parts[0][1:2] == ":" or ".." in parts:
            raise self._leads_out(name)
        target = os.path.join(self._folder, name)  # noqa: PTH118
        if not self._contains(target):
            raise self._leads_out(name, " by a link")
        return Path(target)

    def _contains(self, target: str) -> bool:
        if os.path.islink(target):  # noqa: PTH114
            return self._is_in_root(os.path.realpath(target))
        above = os.path.dirname(target)  # noqa: PTH120
        if above not in self._inside:
            self._inside[above] = self._is_in_root(os.path.realpath(above))
        return self._inside[above]

    def _is_in_root(self, real: str) -> bool:
        return real == self._root or real.startswith(self._root.rstrip("/") + "/")

    def _leads_out(self, name: str, manner: str = "") -> FileFormatError:
        return FileFormatError(
            f"{self._folder}: {name!r} leads out of this folder{manner}; copy the file into the "
            "folder and use its path there"
        )


def _can_be_path(name: str) -> bool:
    """Return whether file systems accept a name: encoded, without NUL, and of limited length."""
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        return False
    parts = encoded.split(b"/")
    return b"\0" not in encoded and len(encoded) <= NAME_BYTES and max(map(len, parts)) <= 255


# Bounded reading of regular files: pipes, devices and endless files are refused.

FILE_BYTES: Final = 2**30
"""Default maximum bytes of a file that is read whole."""
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: str | Path, limit: int | None = None) -> BufferedReader:
    """Open a regular file of at most `limit` bytes for reading.

    Raises MissingInputError if it is missing, cannot be opened or is not a regular file (a named
    pipe is never waited for), and FileFormatError if it is larger.
    """
    try:
        # Without O_NONBLOCK, opening a named pipe without a writer would block.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
    try:
        _check(path, os.fstat(descriptor), limit)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_bytes(path: str | Path, limit: int = FILE_BYTES) -> bytes:
    """Read a regular file of at most `limit` bytes. Raises as `open_regular` does."""
    with open_regular(path, limit) as file:
        try:
            content = file.read(limit + 1)
        except OSError as error:
            raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
    if len(content) > limit:  # it grew, or its file system reports no size, as for /proc
        raise _too_large(path, len(content), limit)
    return content


def read_text(path: str | Path, limit: int = FILE_BYTES) -> str:
    """Read the UTF-8 text of a regular file, without a byte order mark.

    Raises as `read_bytes` does, and FileFormatError if it is not UTF-8.
    """
    return decode(read_bytes(path, limit), str(path))


def decode(content: bytes, place: str) -> str:
    """Decode UTF-8 without a byte order mark. Raises FileFormatError with `place`."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise FileFormatError(f"{place}, line {line}: {reason_of(error)}") from None


def size_text(count: int) -> str:
    """Format a number of bytes: `3.2 MB`."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _check(path: str | Path, status: os.stat_result, limit: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), "something else")
        raise MissingInputError(f"{path}: cannot be read: it is {kind}, not a file")
    if limit is not None and status.st_size > limit:
        raise _too_large(path, status.st_size, limit)


def _too_large(path: str | Path, size: int, limit: int) -> FileFormatError:
    return FileFormatError(
        f"{path}: has {size_text(size)}, but at most {size_text(limit)} are read; split the "
        "file, or give the right one"
    )


# SHA-256 of file content.

_BLOCK: Final = 2**20


def hash_stream(file: BinaryIO) -> str:
    """Return the SHA-256 of the rest of an open file as 64 hex digits. Raises OSError."""
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def hash_file(path: str | Path) -> str:
    """Return the SHA-256 of a regular file as 64 hex digits; never waits for a pipe.

    Raises:
        MissingInputError: If it is missing, unreadable or not a regular file.
    """
    with open_regular(path) as file:
        try:
            return hash_stream(file)
        except OSError as error:
            raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None


# Untrusted CSV, with bounds on fields and rows.

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
    FileFormatError with the line for invalid CSV, or with the name that two columns have.
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
            names = reader.fieldnames or []
            twin = next(
                (name for name, count in Counter(names).items() if name and count > 1), None
            )
            if twin:
                raise FileFormatError(f"{path}: two columns have the name {twin[:80]!r}")
            last_line = reader.reader.line_num if names else 0
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


# Strict reading of untrusted JSON: extensions that only Python's parser accepts are refused.

DEPTH: Final = 100
"""Maximum nesting of lists and objects."""
LINE_BYTES: Final = 64 * 2**20
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: bytes | str, place: str, twins: bool = False, lenient: bool = False) -> Any:
    """Parse a JSON text; `place` identifies it in errors.

    Raises FileFormatError for invalid JSON, nesting above 100, NaN and Infinity, a lone
    surrogate and, unless `twins` are allowed, a repeated key of an object. `lenient`, for logs
    of other tools written by Python's own writer, accepts NaN as a number, uses the last of
    repeated keys, and replaces lone surrogates by U+FFFD.
    """
    if isinstance(text, bytes):
        text = decode(text, place)
    try:
        value = json.loads(
            text,
            parse_constant=None if lenient else _no_number,
            object_pairs_hook=None if twins or lenient else _once,
        )
    except RecursionError:
        raise _too_deep(place) from None
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        at = f"{line}column {error.colno}"
        raise FileFormatError(f"{place}: is not JSON: {error.msg} ({at})") from None
    except ValueError as error:
        raise FileFormatError(f"{place}: is not JSON: {error}") from None
    # Depth is at most the number of brackets: most rows skip the check.
    if text.count("[") + text.count("{") > DEPTH and _depth_exceeds(value, DEPTH):
        raise _too_deep(place)
    if _SURROGATE.search(text):
        if lenient:
            return replace_surrogates(value)
        _refuse_halves(value, place)
    return value


def read_json(path: str | Path, limit: int = FILE_BYTES) -> Any:
    """Read the value of a JSON file. Raises as `read_bytes` and `parse_json` do."""
    return parse_json(read_bytes(path, limit), str(path))


def read_json_lines(path: str | Path, limit: int | None = None) -> Iterator[tuple[int, Any]]:
    """Yield line number (from 1) and value of each line of a JSON Lines file, skipping empty lines.

    One line at a time is in memory. Raises as `open_regular` and `parse_json` do, with the line.
    """
    with open_regular(path, limit) as file:
        number = 0
        while line := file.readline(LINE_BYTES + 1):
            number += 1
            place = f"{path}, line {number}"
            if len(line) > LINE_BYTES:
                raise FileFormatError(f"{place}: is longer than {LINE_BYTES // 2**20} MiB")
            if line.strip():
                yield number, parse_json(line, place)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twin[:80]!r} occurs twice")
    return values


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number in JSON")


_STRICT = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_once)


def _depth_exceeds(value: Any, limit: int) -> bool:
    """Return whether lists and objects are nested more than `limit` deep."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def _too_deep(place: str) -> FileFormatError:
    return FileFormatError(f"{place}: is nested more than {DEPTH} deep; give the right file")


def _refuse_halves(value: Any, place: str) -> None:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item, *item.values()]
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str) and any("\ud800" <= c <= "\udfff" for c in item):
            raise FileFormatError(
                f"{place}: contains half a character (a lone surrogate such as \\ud83d); write "
                "the file again as UTF-8"
            )
