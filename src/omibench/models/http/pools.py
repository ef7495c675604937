"""Several clients per endpoint, since a client searches all its connections on each request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from typing import Protocol, TypeVar

CLIENT_LOAD = 16
"""Requests in flight per client; with 256 on one, the search took 1 to 2 ms per request."""


class Closable(Protocol):
    """A client of an SDK."""

    def close(self) -> Awaitable[None]:
        """Close the connections."""


Client = TypeVar("Client", bound=Closable)


@asynccontextmanager
async def open_pools(
    make: Callable[[], Client], concurrency: int
) -> AsyncIterator[Callable[[], AbstractContextManager[Client]]]:
    """Yield a function that lends the least busy client; all are closed at the end.

    A further client is created when each of the others has `CLIENT_LOAD` requests in flight, up to
    the number that `concurrency` needs.
    """
    clients: list[Client] = []
    busy: list[int] = []
    async with AsyncExitStack() as stack:

        @contextmanager
        def lend() -> Iterator[Client]:
            at = min(range(len(busy)), key=busy.__getitem__, default=0)
            if not clients or (
                busy[at] >= CLIENT_LOAD and len(clients) * CLIENT_LOAD < concurrency
            ):
                at = len(clients)
                clients.append(make())
                busy.append(0)
                stack.push_async_callback(clients[at].close)
            busy[at] += 1
            try:
                yield clients[at]
            finally:
                busy[at] -= 1

        yield lend
