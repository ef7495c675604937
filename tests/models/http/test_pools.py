"""Clients are lent by how busy they are, made as they are needed, and all closed."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from hypothesis import given
from hypothesis import strategies as st

from omibench.models.api.http import CLIENT_LOAD, open_pools


class Client:
    """Counts how many requests it has in flight, and whether it was closed."""

    def __init__(self) -> None:
        self.busy, self.most, self.closed = 0, 0, False

    async def close(self) -> None:
        self.closed = True


@given(concurrency=st.integers(1, 300), flying=st.integers(1, 300))
def test_no_client_is_busier_than_needed(concurrency: int, flying: int) -> None:
    made: list[Client] = []

    def make() -> Client:
        made.append(Client())
        return made[-1]

    async def run() -> None:
        async with open_pools(make, concurrency) as lend:
            with ExitStack() as stack:
                for _ in range(min(flying, concurrency)):
                    client = stack.enter_context(lend())
                    client.busy += 1
                    client.most = max(client.most, client.busy)
        assert all(client.closed for client in made)

    asyncio.run(run())
    assert len(made) == -(-min(flying, concurrency) // CLIENT_LOAD)
    assert max(client.most for client in made) <= CLIENT_LOAD
