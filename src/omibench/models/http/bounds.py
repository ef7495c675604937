"""Limits on the size and time of a reply, since a server can send endlessly or very slowly.

Sizes are counted after decompression.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TypeVar

from omibench.models.traffic.failure import Failure

T = TypeVar("T")
MOST_REPLY = 128 * 2**20
"""Maximum bytes of one reply: an answer, a page of a list, a line of batch results."""
MOST_ERROR = 2**20
"""Maximum bytes of an error body."""
MOST_RESULTS = 16 * 2**30
"""Maximum bytes of a file of batch results, which is streamed to disk."""
CALL_S = 180.0
"""Maximum seconds of a short call (a poll, a list, a webhook message)."""
TRANSFER_S = 7200.0
"""Maximum seconds of the upload or download of a batch."""
_PIECE = 1 << 18
_FORMS = {"gzip", "x-gzip", "deflate"}
_GZIP_OR_ZLIB = 47
"""zlib's wbits per encoding, by its first bytes."""
ENCODINGS = "gzip, deflate"
"""Encodings that clients request: these can be decompressed piece by piece."""


class Gauge:
    """Decompresses a reply piece by piece within the limits of size and time.

    Raises Failure for an encoding that was not requested.
    """

    def __init__(self, encoding: str, most_bytes: int, most_s: float) -> None:
        words = [word.strip().lower() for word in encoding.split(",")]
        forms = [word for word in words if word not in ("", "identity")]
        if len(forms) > 1 or any(form not in _FORMS for form in forms):
            raise Failure(f"the reply has a compression that was not requested ({forms[0]!r})")
        self._unzip = zlib.decompressobj(_GZIP_OR_ZLIB) if forms else None
        self._left, self._most = most_bytes, most_bytes
        self._until, self._most_s = monotonic() + most_s, most_s

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """Decompress raw bytes. Raises Failure if a reply is too long, too late or broken."""
        if monotonic() > self._until:
            raise _late(self._most_s)
        if self._unzip is None:
            yield self._count(raw)
            return
        try:
            while raw:
                yield self._count(self._unzip.decompress(raw, _PIECE))
                raw = self._unzip.unconsumed_tail
        except zlib.error:
            raise Failure("the reply cannot be decompressed", 200, transient=True) from None

    def _count(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise Failure(f"the reply is larger than {size_text(self._most)} and was cut off", 200)
        return piece


def _late(seconds: float, *, may_retry: bool = True) -> Failure:
    return Failure(
        f"no complete reply within {seconds:g} s", transient=may_retry, congestion=may_retry
    )


def size_text(size: int) -> str:
    """Format bytes in the largest binary unit that fits: `128 MiB`."""
    units = ((30, "GiB"), (20, "MiB"), (10, "KiB"))
    return next((f"{size >> s} {name}" for s, name in units if size >= 1 << s), f"{size} bytes")


def call_with_timeout(seconds: float, call: Callable[[], T], *, may_retry: bool = True) -> T:
    """Run a blocking call, or raise Failure after the time limit; its thread is then abandoned.

    Time limits of HTTP libraries apply to each read, so a slow server passes all of them.
    `may_retry` states whether the call can be retried while that thread may still be running.
    """
    outcomes: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((call(), None))
        except BaseException as error:
            outcomes.put((None, error))

    Thread(target=run, name="omibench call", daemon=True).start()
    try:
        value, error = outcomes.get(timeout=seconds)
    except Empty:
        raise _late(seconds, may_retry=may_retry) from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value]
