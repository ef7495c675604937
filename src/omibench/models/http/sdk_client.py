"""Clients of the providers' SDKs: no retries, one origin, replies of bounded size and time."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from omibench.models.http.bounds import MOST_REPLY, TRANSFER_S


class SdkClient(Protocol):
    """A client of an SDK."""

    def __init__(self, **options: Any) -> None: ...

    @property
    def base_url(self) -> Any:
        """The address of the endpoint."""


C = TypeVar("C", bound=SdkClient)


def sdk_client(  # noqa: PLR0913 (what a client needs, each of another kind)
    kind: type[C],
    http: type[Any],
    *,
    key: str,
    base_url: str | None,
    options: dict[str, Any],
    limit: int | None = None,
    most_s: float = TRANSFER_S,
) -> C:
    """Create a client that neither retries nor waits, and talks to one origin.

    `http` is the SDK's HTTP client class and `options` are its options, including `timeout`. A
    reply is limited to `limit` bytes (default 128 MiB) and `most_s` seconds.
    """
    import httpx2

    from omibench.models.http.hooks import Hooks

    hooks = Hooks(limit or MOST_REPLY, most_s)
    blocks = issubclass(http, httpx2.Client)
    event_hooks = hooks.of_client() if blocks else hooks.of_async_client()
    client = kind(
        api_key=key,
        base_url=base_url,
        max_retries=0,
        timeout=options["timeout"],
        http_client=http(**options, event_hooks=event_hooks),
    )
    hooks.base_url = httpx2.URL(str(client.base_url))
    return client
