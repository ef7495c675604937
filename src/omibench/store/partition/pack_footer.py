"""The footer of a pack, which locates every row group, stored twice.

A Parquet file ends with its footer, without a checksum: one damaged bit there loses every row. A
pack has a copy with a checksum just before it, where Parquet readers ignore it.
"""

from __future__ import annotations

import struct
import zlib
from typing import BinaryIO, NamedTuple

MAGIC = b"PAR1"
_MARK = b"\x89omiFOOT"
_HEAD = struct.Struct("<8sII")
"""Mark, CRC-32 and length of the copy that follows."""
_TAIL = struct.Struct("<I4s")
"""Length of the footer and magic, the end of a Parquet file."""
SEARCH_BYTES = 64 << 20
"""Bytes at the end of a file that are searched for the copy."""


class Footer(NamedTuple):
    """The intact footer of a pack, and whether the one that Parquet readers use is damaged."""

    text: bytes
    is_damaged: bool

    def as_file(self) -> bytes:
        """Return a Parquet file without rows that has this footer."""
        return MAGIC + self.text + _TAIL.pack(len(self.text), MAGIC)


def copy_footer(file: BinaryIO) -> None:
    """Insert the copy before the footer of a finished Parquet file.

    Args:
        file: The file, open for reading and writing.
    """
    size = file.seek(0, 2)
    file.seek(size - _TAIL.size)
    length, _ = _TAIL.unpack(file.read(_TAIL.size))
    start = file.seek(size - _TAIL.size - length)
    footer = file.read(length)
    file.seek(start)
    file.write(_HEAD.pack(_MARK, zlib.crc32(footer), length) + footer)
    file.write(footer + _TAIL.pack(length, MAGIC))


def read_footer(file: BinaryIO) -> Footer | None:
    """Return the intact footer of a pack whose end locates its copy.

    Returns:
        None for a file without an intact copy there, such as an older pack.
    """
    size = file.seek(0, 2)
    tail = _read(file, size - _TAIL.size, _TAIL.size)
    length = int.from_bytes(tail[:4], "little")
    start = size - _TAIL.size - 2 * length - _HEAD.size
    if tail[4:] == MAGIC and start >= 0:
        copy = _parse_copy(_read(file, start, _HEAD.size + length), 0)
        if copy is not None:
            own = _read(file, size - _TAIL.size - length, length)
            return Footer(copy, own != copy)
    return None


def find_footer(file: BinaryIO) -> Footer | None:
    """Search the end of a pack whose last bytes are damaged for its copy.

    Returns:
        None without an intact copy.
    """
    size = file.seek(0, 2)
    first = max(0, size - SEARCH_BYTES)
    end = _read(file, first, size - first)
    place = end.rfind(_MARK)
    while place >= 0:
        if (copy := _parse_copy(end, place)) is not None:
            return Footer(copy, is_damaged=True)
        place = end.rfind(_MARK, 0, place)
    return None


def _parse_copy(data: bytes, place: int) -> bytes | None:
    if len(data) < place + _HEAD.size:
        return None
    mark, crc, length = _HEAD.unpack_from(data, place)
    copy = data[place + _HEAD.size : place + _HEAD.size + length]
    intact = mark == _MARK and len(copy) == length and zlib.crc32(copy) == crc
    return copy if intact else None


def _read(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(max(0, place))
    return file.read(size)
