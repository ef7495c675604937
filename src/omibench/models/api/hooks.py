"""Limits of every httpx2 client: one origin, and replies of bounded size and time.

Imports httpx2, which comes with the SDKs: import this module only to create a client.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2

from omibench.models.api.failures import Failure
from omibench.models.api.http import ENCODINGS, MOST_ERROR, MOST_REPLY, TRANSFER_S, Gauge


@dataclass(eq=False)
class CrossOriginRedirect(Failure):
    """A reply redirects the request to another origin. Nothing was sent there."""

    url: str = ""


class Hooks:
    """The event hooks of one client: a reply is limited to `most_bytes` and `most_s` seconds.

    The first request fixes the origin of the client, unless `base_url` is given. A request to
    another origin (by a redirect or an address in a reply) raises CrossOriginRedirect, unless the
    client may `leave`, and its library keeps keys from other origins.
    """

    def __init__(
        self, most_bytes: int = MOST_REPLY, most_s: float = TRANSFER_S, *, leave: bool = False
    ) -> None:
        self.base_url: httpx2.URL | None = None
        self._leave = leave
        self._most, self._most_s = most_bytes, most_s

    def of_client(self) -> dict[str, list[Any]]:
        """Return the hooks of a blocking client."""
        return {"request": [self._check], "response": [self._limit_reply]}

    def of_async_client(self) -> dict[str, list[Any]]:
        """Return the hooks of an async client."""

        async def check(request: httpx2.Request) -> None:
            self._check(request)

        async def limit_reply(response: httpx2.Response) -> None:
            self._limit_reply(response)

        return {"request": [check], "response": [limit_reply]}

    def _check(self, request: httpx2.Request) -> None:
        self.base_url = self.base_url or request.url
        if not self._leave and origin_text(request.url) != origin_text(self.base_url):
            raise CrossOriginRedirect(
                f"it redirects to {origin_text(request.url)}, but keys and problems are sent only "
                "to the address in `base_url`; if you trust the other address, set it there",
                maybe_paid=False,
                fatal=True,
                url=str(request.url),
            )
        request.headers["accept-encoding"] = ENCODINGS

    def _limit_reply(self, response: httpx2.Response) -> None:
        # Already decompressed here; do not decompress it again.
        encoding = response.headers.pop("content-encoding", "")
        most_bytes = self._most if response.is_success else min(self._most, MOST_ERROR)
        response.stream = _Stream(response.stream, Gauge(encoding, most_bytes, self._most_s))


def origin_text(url: httpx2.URL | str) -> str:
    """Return scheme, host and port of a URL: safe to show, and the scope of a key."""
    url = httpx2.URL(url)
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    return f"{url.scheme}://{url.host}:{port}"


class _Stream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, stream: Any, gauge: Gauge) -> None:
        self._stream, self._gauge = stream, gauge

    def __iter__(self) -> Iterator[bytes]:
        for raw in self._stream:
            yield from self._gauge.pieces(raw)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for raw in self._stream:
            for piece in self._gauge.pieces(raw):
                yield piece

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()
