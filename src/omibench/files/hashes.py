"""The SHA-256 of what is in a file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import BinaryIO, Final

from omibench.errors import MissingInputError, reason_of
from omibench.files.intake.regular import open_regular

_BLOCK: Final = 2**20


def hash_stream(file: BinaryIO) -> str:
    """The SHA-256 of the rest of an open file, 64 hex digits. Raises OSError."""
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def hash_file(path: str | Path) -> str:
    """The SHA-256 of a regular file, 64 hex digits, read in pieces; a pipe is never waited for.

    Raises:
        MissingInputError: for what is not there, cannot be read or is no regular file.
    """
    with open_regular(path) as file:
        try:
            return hash_stream(file)
        except OSError as error:
            raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
