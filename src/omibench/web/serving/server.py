"""Server process of an application."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp

from omibench.web.serving.address import ServedAddress
from omibench.web.serving.listening import open_listener

_REQUESTS_AT_ONCE: Final = 500


def serve(
    make_application: Callable[[int], ASGIApp],
    address: ServedAddress,
    on_start: Callable[[str], None],
) -> None:
    """Serve an application until the process is stopped.

    Args:
        make_application: Factory that receives the port.
        address: Address to serve at.
        on_start: Called with the address for users once the server listens.

    Raises:
        OutputError: If the address cannot be bound.
    """
    import uvicorn

    listener = open_listener(address)
    try:
        port = listener.getsockname()[1]
        name = f"[{address.host}]" if ":" in address.host else address.host
        config = uvicorn.Config(
            make_application(port),
            access_log=False,
            log_config=None,
            log_level="warning",
            server_header=False,
            ws="none",
            # Forwarded client addresses are accepted only from a terminator on this machine.
            proxy_headers=address.is_secure,
            forwarded_allow_ips="127.0.0.1",
            limit_concurrency=_REQUESTS_AT_ONCE,
            timeout_graceful_shutdown=5,
        )
        typed_address = address.origin or f"http://{name}:{port}"

        class AnnouncedServer(uvicorn.Server):
            """Reports its address after signal handlers are set, so that Ctrl-C ends it cleanly."""

            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                on_start(typed_address)

        with suppress(KeyboardInterrupt):
            AnnouncedServer(config).run(sockets=[listener])
    finally:
        listener.close()
