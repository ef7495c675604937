"""The hash of a file that may be gone."""

from __future__ import annotations

from pathlib import Path

from omibench.errors import OmibenchError
from omibench.files.hashes import hash_file


def try_hash(path: Path) -> str:
    """SHA-256 of a file; empty where there is none, or where it is no regular file."""
    try:
        return hash_file(path)
    except OmibenchError:
        return ""
