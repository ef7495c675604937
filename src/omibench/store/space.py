"""Room on the store's disk: looked at before anything is bought."""

from __future__ import annotations

import shutil
from pathlib import Path

from omibench.errors import StoreError

RESERVE_BYTES = 100_000_000
ANSWER_BYTES = 64_000
"""What must be free on the store's disk before anything is sent, for all and for each request."""


def check_space(store: Path, requests: int) -> None:
    """Raise StoreError when the disk of a store may not hold the answers to so many requests.

    Free must be `RESERVE_BYTES`, and `ANSWER_BYTES` for each request.
    """
    folder = store
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return  # a disk that does not tell
    needed = RESERVE_BYTES + requests * ANSWER_BYTES
    if free < needed:
        raise StoreError(
            f"{store}: its disk has {free / 1e6:,.0f} MB free, and {needed / 1e6:,.0f} MB are "
            f"needed for {requests:,} answers ({RESERVE_BYTES / 1e6:.0f} MB and "
            f"{ANSWER_BYTES / 1e3:.0f} kB each), so that none that is paid is lost: free some, or "
            "set `study.store` to another disk; nothing was sent"
        )
