"""A file of a partition: its lines, their keys, and what is damaged in it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import stat
import time
import zlib
from abc import ABC, abstractmethod
from calendar import timegm
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic import ValidationError

from omibench.errors import StoreError, reason_of
from omibench.files.locks import hold
from omibench.files.outputs import make_folder, open_new, tighten, write_private
from omibench.schemas.request import Request, Response
from omibench.store.key import KEY_SCHEMA, dump_request
from omibench.text.masking import may_hold_surrogates, replace_surrogates

OPEN_AT_ONCE = 64
ASIDE = "damaged"
"""Folder of a store for damaged files that were replaced by a good copy; delete them after
inspection."""


class NoFileError(ValueError):
    """The name belongs to a pipe, a device or a folder."""


def open_stored(path: Path) -> BinaryIO:
    """Open a regular file of a store for reading; never blocks on a named pipe.

    Raises OSError, and NoFileError if it is not a regular file.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise NoFileError("it is not a regular file")
    return os.fdopen(file, "rb")


def set_aside(store: Path, path: Path) -> Path:
    """Move a damaged file of a store to its folder `damaged/`, under a unique name."""
    target = make_folder(store / ASIDE) / f"{path.name}.{secrets.token_hex(4)}"
    path.replace(target)
    return target


class OpenFiles:
    """Files kept open between reads, up to the limit of a process."""

    def __init__(self) -> None:
        self._files: dict[Path, int] = {}

    def read(self, path: Path, offset: int, length: int) -> bytes:
        """Read `length` bytes of a file from `offset`, fewer at its end. Raises OSError."""
        file = self._files.get(path)
        if file is None:
            if len(self._files) >= OPEN_AT_ONCE:
                self.close()
            file = self._files[path] = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        return os.pread(file, length, offset)

    def forget(self, path: Path) -> None:
        """Close one file, if it is open."""
        file = self._files.pop(path, None)
        if file is not None:
            os.close(file)

    def close(self) -> None:
        """Close every file."""
        for path in list(self._files):
            self.forget(path)


# Free space on the store's disk, checked before any request and before each attempt.

RESERVE_BYTES = 100_000_000
ANSWER_BYTES = 64_000
"""Free bytes required on the store's disk before sending, in total and per request."""


def check_space(store: Path, requests: int, *, sending: bool = False) -> None:
    """Raise StoreError if the disk of a store may be too small for the answers.

    `RESERVE_BYTES` must be free, and `ANSWER_BYTES` for each request.

    Args:
        store: Folder of the store.
        requests: Number of requests whose answers are still to be written.
        sending: Whether others were sent before; the message says what happens to them.
    """
    folder = store
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return  # the disk does not report its free space
    needed = RESERVE_BYTES + requests * ANSWER_BYTES
    if free < needed:
        sent = (
            "Nothing more was sent, and the answers in flight were kept; then run again"
            if sending
            else "Nothing was sent"
        )
        raise StoreError(
            f"{store}: its disk has {free / 1e6:,.0f} MB free, but {requests:,} answers need "
            f"{needed / 1e6:,.0f} MB ({RESERVE_BYTES / 1e6:.0f} MB and {ANSWER_BYTES / 1e3:.0f} "
            "kB each), so that no billed answer is lost; free some space, or move `study.store` "
            f"to another disk. {sent}"
        )


# One line of a segment: a response with its request, its key and its checksum.
#
# A line is `{"v":1,"key":"<64 hex>","crc":"<8 hex>",<body>}`: the head has a fixed width and the
# CRC-32 of key and body, so that an index is built, and damage found, without parsing any JSON. The
# body is `"schema":<n>,"tags":{},"response":{},"request":{}`; a line without `schema` was written
# under key schema 1. Unknown members are preserved whenever a line is copied.

LINE_VERSION = 1
_START, _CRC, _BODY = b'{"v":%d,"key":"' % LINE_VERSION, b'","crc":"', b'",'
_KEY_AT = len(_START)
_KEY_END = _KEY_AT + 64
HEAD = _KEY_END + len(_CRC) + 8 + len(_BODY)
_SCHEMA, _TAGS, _RESPONSE, _REQUEST = b'"schema":', b'"tags":', b',"response":', b',"request":'
_DECODING = b',"decoding":{'
_END = re.compile(rb',"decoding":\{[^{}]*\},"index":\d+\}\}\n')
_ENCODER = json.JSONEncoder(separators=(",", ":"))


class Body(NamedTuple):
    """The content of a line after its head: key schema and three JSON objects as text."""

    schema: int
    tags: bytes
    response: bytes
    request: bytes
    extra: bytes = b""
    """Unknown members: a JSON object, usually empty."""


def build_body(request: Request, response: Response) -> Body:
    """Build the body of the line for `response` to `request` under the newest schema."""
    return Body(
        schema=KEY_SCHEMA,
        tags=_json(request.tags.model_dump(mode="json", exclude_defaults=True)),
        response=_json(response.model_dump(mode="json", exclude_defaults=True)),
        request=_json(dump_request(request)),
    )


def encode_line(key: str, body: Body) -> bytes:
    """Encode one line of a segment, including its newline."""
    name, tail = key.encode("ascii"), _tail(body)
    crc = checksum(name, tail)
    return b"".join((_START, name, _CRC, b"%08x" % crc, _BODY, tail, b"\n"))


def body_checksum(key: str, body: Body) -> int:
    """Return the CRC-32 that `encode_line` writes."""
    return checksum(key.encode("ascii"), _tail(body))


def line_fault(line: bytes) -> str | None:
    """Return why a line (with its newline) is not valid, or None."""
    if not line.endswith(b"\n"):
        return "torn: its writer was stopped in the middle of it"
    if not line.startswith(_START):
        has_version = line.startswith(b'{"v":')
        return (
            "written by another version of the store" if has_version else "corrupt: not a response"
        )
    crc = checksum(line[_KEY_AT:_KEY_END], line[HEAD:-1])
    middle = b"".join((_CRC, b"%08x" % crc, _BODY))
    return None if line[_KEY_END:HEAD] == middle else "corrupt: its checksum does not match"


def read_key(line: bytes) -> str:
    """Return the key of a valid line, 64 hex digits."""
    return line[_KEY_AT:_KEY_END].decode("ascii")


def read_schema(line: bytes) -> int:
    """Return the key schema of a valid line."""
    if not line.startswith(_SCHEMA, HEAD):
        return 1
    start = HEAD + len(_SCHEMA)
    return int(line[start : line.index(b",", start)])


def parse_line(line: bytes) -> Body:
    """Return the body of a valid line. Raises ValueError if its format differs from the store's.

    Nothing is decoded: inside a JSON string every quote is escaped, so `,"response":{` can only
    occur between members. Lines with another order of members are parsed as JSON.
    """
    start = line.find(_TAGS, HEAD, HEAD + 24) + len(_TAGS)
    middle, last = line.find(_RESPONSE, start), line.rfind(_REQUEST)
    end = _END.fullmatch(line, max(0, line.rfind(_DECODING)))
    if HEAD < start < middle < last and end is not None:
        tags, response = line[start:middle], line[middle + len(_RESPONSE) : last]
        return Body(read_schema(line), tags, response, line[last + len(_REQUEST) : -2])
    return _parse_any(line)


def parse_response(text: bytes) -> Response:
    """Parse a response from its JSON. Raises ValueError if it is invalid.

    Unknown fields of later versions are dropped, and lone surrogates, which earlier versions wrote,
    are replaced; the line keeps both.
    """
    try:
        return Response.model_validate_json(text)
    except ValidationError:
        values = parse_values(text)
        try:
            return Response.model_validate(values)
        except ValidationError as error:
            return Response.model_validate(_without_unknown(values, error))


def parse_values(text: bytes) -> Any:
    """Return the JSON value of a part of a line, with lone surrogates replaced."""
    values = _loads(text)
    return replace_surrogates(values) if may_hold_surrogates(text) else values


def checksum(key: bytes, tail: bytes) -> int:
    """Return the CRC-32 of a line's key and everything after its head."""
    return zlib.crc32(tail, zlib.crc32(key))


def _tail(body: Body) -> bytes:
    extra = b"," + body.extra[1:-1] if body.extra else b""
    return b"".join(
        (_SCHEMA, b"%d," % body.schema, _TAGS, body.tags, _RESPONSE, body.response,
         _REQUEST, body.request, extra, b"}")
    )  # fmt: skip


def _loads(text: bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _parse_any(line: bytes) -> Body:
    values = _loads(line)
    if not isinstance(values, dict):
        raise ValueError("it is not a JSON object")
    members = ("v", "key", "crc", "schema", "tags", "response", "request")
    extra = {name: value for name, value in values.items() if name not in members}
    try:
        tags, response, request = (_json(values[name]) for name in ("tags", "response", "request"))
    except KeyError as error:
        raise ValueError(f"it has no member {error}") from None
    unknown = _json(extra) if extra else b""
    return Body(values.get("schema", 1), tags, response, request, unknown)


def _without_unknown(values: Any, error: ValidationError) -> Any:
    for fault in error.errors():
        if fault["type"] != "extra_forbidden":
            raise error
        *path, name = fault["loc"]
        holder = values
        for step in path:
            holder = holder[step]
        del holder[name]
    return values


def _json(value: Any) -> bytes:
    return _ENCODER.encode(value).encode("ascii")


# A file of a partition: its keys, where their responses are, and what is damaged in it.

_SECOND_BITS = 27


class Damage(NamedTuple):
    """Unreadable lines: the file, the first of them, the reason, and their number."""

    segment: str
    line: int
    reason: str
    lines: int = 1


class StoredFile(ABC):
    """A segment or a pack. Every method can raise FileNotFoundError: it was compacted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self.places: dict[bytes, int] = {}
        """Every key (32 bytes) with the place of its first response, as one number."""
        self.schemas: set[int] = set()
        self.damaged: list[Damage] = []
        self.lines = 0
        """Whole lines or rows, valid or not."""
        self.repeated = 0
        """Lines whose key an earlier line of the file has."""

    def add(self, key: str, first: int, second: int, schema: int) -> None:
        """Note the place of a response: offset and length in a segment, group and row in a pack.

        Raises ValueError if the key is not valid.
        """
        raw = bytes.fromhex(key)
        if len(raw) != 32:
            raise ValueError("its key is not valid")
        before = len(self.places)
        self.places.setdefault(raw, first << _SECOND_BITS | second)
        self.repeated += len(self.places) == before
        self.schemas.add(schema)

    def place(self, key: str) -> tuple[int, int]:
        """Return the two numbers of a key's place. Raises LookupError without it."""
        return divmod(self.places[bytes.fromhex(key)], 1 << _SECOND_BITS)

    @abstractmethod
    def load(self, thorough: bool = False) -> None:
        """Read its keys; `thorough` forgets what is known and checks everything in the file."""

    @abstractmethod
    def is_current(self) -> bool:
        """Return whether the file is unchanged since it was loaded."""

    @abstractmethod
    def line(self, key: str) -> bytes:
        """Return the response of a key as the line of a segment. Raises ValueError if damaged."""

    @abstractmethod
    def body(self, key: str) -> Body:
        """Return the body of that line; raises as `line` does."""

    @abstractmethod
    def response(self, key: str) -> bytes:
        """Return the response of a key as JSON; raises as `line` does."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


# Segments: append-only files of responses, one writer each, one JSON line per response.
#
# Opening a segment reads every line and checks its checksum, without parsing any JSON. On closing,
# its writer leaves `<segment>.closed` with the size.

SUFFIX = ".jsonl"
CLOSED = ".closed"
LINE_BYTES = 64 << 20
"""Maximum bytes of a line, which a reader holds in memory at once."""


class SegmentFile(StoredFile):
    """A segment for reading."""

    def __init__(self, path: Path, files: OpenFiles) -> None:
        super().__init__(path)
        self.covered = 0
        """Bytes of whole lines that were read."""
        self._size = 0
        self._files = files

    def load(self, thorough: bool = False) -> None:
        """Read the lines that were appended since the last call; all if `thorough` or shorter."""
        try:
            lines = open_stored(self.path)
        except NoFileError as error:
            self.damaged = [Damage(self.path.name, 1, str(error))]
            return
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read: {reason_of(error)}") from None
        with lines:
            self._size = os.fstat(lines.fileno()).st_size
            if thorough or self._size < self.covered:
                self._forget()
                self.covered = 0
            self.damaged = [damage for damage in self.damaged if damage.line <= self.lines]
            lines.seek(self.covered)
            while line := lines.readline(LINE_BYTES + 1):
                fault = line_fault(line)
                if len(line) > LINE_BYTES:
                    fault = f"longer than {LINE_BYTES >> 20} MiB"
                    while not line.endswith(b"\n") and (more := lines.readline(LINE_BYTES)):
                        self.covered += len(line)
                        line = more
                self._add_line(line, fault)
                if not line.endswith(b"\n"):
                    break  # its writer may append the rest at any moment: the next call reads it

    def _add_line(self, line: bytes, fault: str | None) -> None:
        if fault is None:
            try:
                self.add(read_key(line), self.covered, len(line), read_schema(line))
            except ValueError:
                fault = "corrupt: its key is not valid"
        if fault is not None:
            self.damaged.append(Damage(self.path.name, self.lines + 1, fault))
        if line.endswith(b"\n"):
            self.covered += len(line)
            self.lines += 1

    def append(self, line: bytes) -> None:
        """Note a valid line that was appended."""
        self._add_line(line, None)
        self._size = self.covered

    def is_current(self) -> bool:
        """Return whether nothing was appended since `load`."""
        status = self.path.stat()
        return not stat.S_ISREG(status.st_mode) or status.st_size == self._size

    def line(self, key: str) -> bytes:
        """Return the verified line of a key. Raises ValueError if it is not valid."""
        offset, length = self.place(key)
        line = self._files.read(self.path, offset, length)
        fault = line_fault(line)
        if fault is not None:
            raise ValueError(fault)
        if read_key(line) != key:
            raise ValueError("it has another key")
        return line

    def body(self, key: str) -> Body:
        """Return the body of one line; raises as `line` does."""
        return parse_line(self.line(key))

    def response(self, key: str) -> bytes:
        """Return the response of `key` as JSON; raises as `line` does."""
        return self.body(key).response

    def close(self) -> None:
        """Close the file."""
        self._files.forget(self.path)


class SegmentWriter:
    """The only writer of a new segment with a unique name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = 0
        try:
            make_folder(path.parent)
            tighten(path.parent.parent, path.parent)
            self._file = open_new(path, os.O_WRONLY | os.O_EXCL | os.O_APPEND)
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {reason_of(error)}") from None
        hold(self._file)

    def write(self, line: bytes) -> None:
        """Append one line; once this returns, it survives a kill of the process."""
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            with contextlib.suppress(OSError):  # a partial line must not corrupt the next one
                os.ftruncate(self._file, self._size)
            raise StoreError(f"{self.path}: cannot be written: {reason_of(error)}") from None
        self._size += len(line)

    def sync(self) -> None:
        """Sync the file, so that it survives a power cut. Raises StoreError if it was removed."""
        os.fsync(self._file)
        if os.fstat(self._file).st_nlink == 0:
            raise StoreError(f"{self.path}: was removed while it was being written")

    def close(self) -> None:
        """Sync and close the file, and mark it as complete."""
        try:
            self.sync()
        finally:
            os.close(self._file)
        with contextlib.suppress(OSError):
            write_private(_mark(self.path, CLOSED), b"%d\n" % self._size)


def is_marked_closed(segment: Path) -> bool:
    """Return whether the writer of a segment marked it as complete. Raises OSError without it."""
    size = segment.stat().st_size
    try:
        with open_stored(_mark(segment, CLOSED)) as file:
            return int(file.read(32)) == size
    except (OSError, ValueError):
        return False


def remove_mark(path: Path) -> None:
    """Remove what marks a segment as complete, if anything."""
    with contextlib.suppress(OSError):
        _mark(path, CLOSED).unlink(missing_ok=True)


def _mark(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


# Whether a process of this host is still running.


def read_process_start(pid: int) -> str | None:
    """Return the start time of a process, which detects a reused id; None if it ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return _alive(pid)
    # A zombie has ended: it only waits for its parent.
    return None if fields[0] in (b"Z", b"X") else fields[19].decode()


def _alive(pid: int) -> str | None:
    if Path("/proc/self/stat").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "running"


# Detects whether a segment's writer is still running, since only closed segments are compacted.
#
# A running writer holds an advisory lock on its segment, whose name contains its host and process
# id; on closing, it marks the segment as complete.

ABANDONED_S = 7 * 86400.0
"""Seconds without a change after which a segment of another host counts as closed."""
_STAMP = "%Y%m%dT%H%M%S"
_NAME = re.compile(r"\d{8}T\d{6}-(?P<host>[A-Za-z0-9]+)-(?P<pid>\d+)-[0-9a-f]{8}\.jsonl")


def new_name(suffix: str) -> str:
    """Return a unique file name: time (UTC), host, process and eight digits."""
    stamp = time.strftime(_STAMP, time.gmtime())
    return f"{stamp}-{host_name()}-{os.getpid()}-{secrets.token_hex(4)}{suffix}"


def read_start_time(path: Path) -> float:
    """Return the start time in a file name: seconds since 1970, or 0 if it has none."""
    try:
        return float(timegm(time.strptime(path.name[:15], _STAMP)))
    except ValueError:
        return 0.0


def host_name() -> str:
    """Return this host's name as used in file names."""
    return "".join(c for c in socket.gethostname() if c.isalnum())[:16] or "host"


def is_closed(segment: Path) -> bool:
    """Return whether a segment has no writer any more.

    True if its writer closed it; if the writer ran on this host and has ended; and after
    `ABANDONED_S` without a change. Raises OSError if the segment was removed.
    """
    if is_marked_closed(segment):
        return True
    if time.time() - segment.stat().st_mtime > ABANDONED_S:
        return _lockable(segment)
    named = _NAME.fullmatch(segment.name)
    if named is None or named["host"] != host_name():
        return False
    return read_process_start(int(named["pid"])) is None and _lockable(segment)


def _lockable(segment: Path) -> bool:
    # Network disks ignore locks through a read-only descriptor.
    try:
        file = os.open(segment, os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:
        return False
    try:
        return hold(file)
    finally:
        os.close(file)
