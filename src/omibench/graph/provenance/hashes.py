"""The hash of a file."""

from __future__ import annotations

import hashlib
from pathlib import Path

_CHUNK = 1 << 20


def sha256_of(path: Path) -> str:
    """SHA-256 of a file; empty where there is none, or where it is no regular file."""
    digest = hashlib.sha256()
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError:
        return ""
    return digest.hexdigest()
