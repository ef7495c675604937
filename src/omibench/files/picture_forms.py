"""Supported picture formats, by the first bytes of a file."""

from __future__ import annotations

_MAGIC = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"BM": "bmp"}
HEAD_BYTES = 12
"""Number of bytes that identify a format."""


def detect_form(head: bytes) -> str | None:
    """Return `png`, `jpeg`, `gif`, `webp` or `bmp` by a file's first 12 bytes; None otherwise."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    return next((form for magic, form in _MAGIC.items() if head.startswith(magic)), None)
