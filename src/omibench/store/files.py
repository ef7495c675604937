"""Writing a whole file at once, whoever else writes the same one at the same moment."""

from __future__ import annotations

import secrets
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` so that a reader sees all of it or no file; threads may race for one path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    partial.write_bytes(data)
    partial.replace(path)
