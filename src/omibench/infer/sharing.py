"""Asking for what several cells share: jobs that run at once buy each caption once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import sleep

from omibench.ask import Asker, to_buy
from omibench.errors import StoreError
from omibench.request import Request, Response
from omibench.store.liveness import hold

LOCKS = "shared"
"""Folder of the store with empty files that are locked while somebody asks."""
LOOK_AGAIN_S = 0.5


def ask_shared(asker: Asker, requests: Sequence[Request]) -> list[tuple[str, Response]]:
    """As `Asker.keyed`, for requests that other jobs may be making at this moment.

    Whoever comes first asks; others with the same requests wait, and find the answers in the
    store. Where the file system has no locks nobody waits, and some may be bought twice.
    """
    partition = asker.store.open_partition(asker.provider.identity)
    partition.refresh()
    if not to_buy(requests, partition):
        return asker.keyed(requests)
    keys = "".join(sorted({partition.key(request) for request in requests}))
    name = hashlib.sha256(keys.encode("ascii")).hexdigest()[:2]
    with _alone(asker.store.folder / LOCKS / name):
        partition.refresh()
        return asker.keyed(requests)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    except OSError as error:
        raise StoreError(f"{path}: cannot be used: {error.strerror}") from None
    with file:
        while not hold(file.fileno()):
            sleep(LOOK_AGAIN_S)
        yield
