"""How much of a reply is read, and for how long: a server may send without end, or drip.

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
"""Bytes of one reply: an answer, a page of a list, a line of a batch's results."""
MOST_ERROR = 2**20
"""Bytes of the body of an error."""
MOST_RESULTS = 16 * 2**30
"""Bytes of a file with the results of a batch, which goes to disk."""
CALL_S = 180.0
"""Seconds that a short call (a poll, a list, a message to a webhook) may take in all."""
TRANSFER_S = 7200.0
"""Seconds that the upload or download of a batch may take in all."""
_PIECE = 1 << 18
_FORMS = {"gzip", "x-gzip", "deflate"}
_GZIP_OR_ZLIB = 47
"""zlib's wbits for either form, by its head."""
ENCODINGS = "gzip, deflate"
"""What clients ask for: these can be decompressed piece by piece."""


class Gauge:
    """Decompresses a reply piece by piece, counts it and looks at the clock.

    Raises Failure for an encoding that was not asked for.
    """

    def __init__(self, encoding: str, most_bytes: int, most_s: float) -> None:
        words = [word.strip().lower() for word in encoding.split(",")]
        forms = [word for word in words if word not in ("", "identity")]
        if len(forms) > 1 or any(form not in _FORMS for form in forms):
            raise Failure(f"the reply is compressed in a way that was not asked for ({forms[0]!r})")
        self._unzip = zlib.decompressobj(_GZIP_OR_ZLIB) if forms else None
        self._left, self._most = most_bytes, most_bytes
        self._until, self._most_s = monotonic() + most_s, most_s

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """What raw bytes hold. Raises Failure when a reply is too long, too late or broken."""
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
            raise Failure("the reply is compressed and broken", 200, transient=True) from None

    def _count(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise Failure(f"the reply has more than {size_text(self._most)} and was cut off", 200)
        return piece


def _late(seconds: float, *, may_retry: bool = True) -> Failure:
    return Failure(
        f"no whole reply within {seconds:g} s", transient=may_retry, congestion=may_retry
    )


def size_text(size: int) -> str:
    """Bytes in the largest binary unit that fits: `128 MiB`."""
    units = ((30, "GiB"), (20, "MiB"), (10, "KiB"))
    return next((f"{size >> s} {name}" for s, name in units if size >= 1 << s), f"{size} bytes")


def call_with_timeout(seconds: float, call: Callable[[], T], *, may_retry: bool = True) -> T:
    """What a blocking call gives, or Failure when it takes longer; its thread is then left alone.

    Time limits of HTTP libraries hold for each read: a server that drips passes all of them.
    `may_retry` says whether the call may be made once more while that thread may still go on.
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
