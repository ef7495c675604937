"""Segments: append-only files of responses, one writer each, one JSON line a response.

A line is `{"v":1,"key":"<64 hex>","crc":"<8 hex>",<body>}`: the head has a fixed width and the
CRC-32 of key and body, so that an index is built, and damage found, without parsing any JSON.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from omibench.errors import StoreError

LINE_VERSION = 1
_START, _CRC, _BODY = b'{"v":1,"key":"', b'","crc":"', b'",'
_KEY_AT = len(_START)
_CRC_AT = _KEY_AT + 64 + len(_CRC)
_ENCODER = json.JSONEncoder(separators=(",", ":"))
HEAD = _CRC_AT + 8 + len(_BODY)


class Damage(NamedTuple):
    """One line that could not be read: where it is and why it was skipped."""

    segment: str
    line: int
    reason: str


class Place(NamedTuple):
    """Where a line stands: byte offset and length in its segment."""

    offset: int
    length: int


def encode_line(key: str, body: dict[str, Any]) -> bytes:
    """One line of a segment, its newline included."""
    tail = _ENCODER.encode(body)[1:].encode("ascii")
    name = key.encode("ascii")
    return b"".join((_START, name, _CRC, _checksum(name, tail), _BODY, tail, b"\n"))


def line_fault(line: bytes) -> str | None:
    """Why a line (with its newline) cannot be used, or None when it is sound."""
    if not line.endswith(b"\n"):
        return "torn: its writer was stopped in the middle of it"
    if not line.startswith(_START):
        known = line.startswith(b'{"v":')
        return "written by another version of the store" if known else "corrupt: not a response"
    end = _KEY_AT + 64
    middle = _CRC + _checksum(line[_KEY_AT:end], line[HEAD:-1]) + _BODY
    return None if line[end:HEAD] == middle else "corrupt: its checksum does not match"


def _checksum(key: bytes, body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(body, zlib.crc32(key))


def scan_segment(path: Path, found: Callable[[str, Place], None]) -> list[Damage]:
    """Call `found(key, place)` for each sound line of a segment; return the damaged ones."""
    damaged: list[Damage] = []
    offset = 0
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                fault = line_fault(line)
                if fault is None:
                    key = line[_KEY_AT : _KEY_AT + 64].decode("ascii")
                    found(key, Place(offset, len(line)))
                else:
                    damaged.append(Damage(path.name, number, fault))
                offset += len(line)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from None
    return damaged


class SegmentWriter:
    """The only writer of one new segment, whose name no other writer can choose."""

    def __init__(self, folder: Path) -> None:
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        host = "".join(c for c in socket.gethostname() if c.isalnum())[:16] or "host"
        name = f"{stamp}-{host}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self.path = folder / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
            self._file = os.open(self.path, flags, 0o644)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {error.strerror}") from None
        self._end = 0

    def write(self, line: bytes) -> Place:
        """Append one line; when this returns, a kill of the process cannot lose it."""
        place = Place(self._end, len(line))
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {error.strerror}") from None
        self._end += len(line)
        return place

    def sync(self) -> None:
        """Make what was written survive a power cut."""
        os.fsync(self._file)

    def close(self) -> None:
        """Sync and let go of the file."""
        self.sync()
        os.close(self._file)
