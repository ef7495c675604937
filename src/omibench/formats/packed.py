"""Members of a zip file from another tool, unpacked up to their stated size.

Inspect compresses its logs with Zstandard, which Python supports from 3.14; pyarrow reads it.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from omibench.errors import FileFormatError, reason_of
from omibench.files.intake import open_regular

MEMBER_BYTES: Final = 256 * 2**20
MEMBERS: Final = 1_000_000
_ZSTANDARD: Final = 93
_LOCAL: Final = struct.Struct("<4s22xHH")
"""A local header: its signature, and the lengths of name and extra field after 30 bytes."""


class Packed:
    """An open zip file: `names` in its order, and `read` for one member."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path, self._file = path, file
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
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
        info = self._zip.getinfo(name)
        try:
            if info.compress_type == _ZSTANDARD:
                content = self._zstandard(info, limit)
            else:
                with self._zip.open(info) as member:
                    content = member.read(limit + 1)
        except (
            zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError,
            struct.error,
        ) as error:  # fmt: skip
            raise self._wrap_error(error) from None
        if len(content) > limit:
            raise FileFormatError(f"{self._path}: {name[:80]!r} unpacks to more than {limit} bytes")
        return content

    def _zstandard(self, info: zipfile.ZipInfo, limit: int) -> bytes:
        import pyarrow as pa

        self._file.seek(info.header_offset)
        mark, name, extra = _LOCAL.unpack(self._file.read(_LOCAL.size))
        if mark != b"PK\x03\x04" or info.compress_size > limit:
            raise zipfile.BadZipFile("a member has no header, or is too large")
        self._file.seek(name + extra, 1)
        packed = pa.BufferReader(self._file.read(info.compress_size))
        with pa.CompressedInputStream(packed, "zstd") as stream:
            content = bytes(stream.read(limit + 1))
        if len(content) <= limit and zlib.crc32(content) != info.CRC:
            raise zipfile.BadZipFile("a checksum is wrong")
        return content

    def _wrap_error(self, error: Exception) -> FileFormatError:
        return FileFormatError(f"{self._path}: is a broken zip file: {reason_of(error)[:200]}")


@contextmanager
def open_packed(path: Path) -> Iterator[Packed]:
    """Open a zip file as a context. Raises FileFormatError if it is not one."""
    with open_regular(path) as file:
        yield Packed(path, file)
