"""Hash of a file that can be missing."""

from __future__ import annotations

from pathlib import Path

from omibench.errors import OmibenchError
from omibench.files.hashes import hash_file


def try_hash(path: Path) -> str:
    """Return the SHA-256 of a file; empty if it is missing or not a regular file."""
    try:
        return hash_file(path)
    except OmibenchError:
        return ""
