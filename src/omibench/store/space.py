"""Free space on the store's disk, checked before any request."""

from __future__ import annotations

import shutil
from pathlib import Path

from omibench.errors import StoreError

RESERVE_BYTES = 100_000_000
ANSWER_BYTES = 64_000
"""Free bytes required on the store's disk before sending, in total and per request."""


def check_space(store: Path, requests: int) -> None:
    """Raise StoreError if the disk of a store may be too small for the answers.

    `RESERVE_BYTES` must be free, and `ANSWER_BYTES` for each request.
    """
    folder = store
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return  # the disk does not report its free space
    needed = RESERVE_BYTES + requests * ANSWER_BYTES
    if free < needed:
        raise StoreError(
            f"{store}: its disk has {free / 1e6:,.0f} MB free, but {requests:,} answers need "
            f"{needed / 1e6:,.0f} MB ({RESERVE_BYTES / 1e6:.0f} MB and {ANSWER_BYTES / 1e3:.0f} "
            "kB each), so that no billed answer is lost; free some space, or move `study.store` "
            "to another disk. Nothing was sent"
        )
