"""SHA-256 of file content."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import BinaryIO, Final

from omibench.errors import MissingInputError, reason_of
from omibench.files.intake.regular import open_regular

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
