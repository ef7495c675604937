"""The server as a process: prints its port, serves loopback, and ends by itself."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import stat
import sys
from collections.abc import Callable
from typing import cast

from aiohttp import web

from model_server.app import application
from model_server.config import Config

HOST = "127.0.0.1"


async def serve(config: Config, port: int, max_seconds: float) -> None:
    """Serve until the parent's end of stdin closes or `max_seconds` are over."""
    runner = web.AppRunner(
        application(config),
        access_log=None,
        keepalive_timeout=3600,
        handle_signals=True,
        read_bufsize=2**22,
    )
    await runner.setup()
    site = web.TCPSite(runner, HOST, port, backlog=4096, shutdown_timeout=0.1)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    over = asyncio.Event()
    if watched(sys.stdin.fileno()):
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), _read, over)
    try:
        await asyncio.wait_for(over.wait(), max_seconds)
    except TimeoutError:
        pass
    finally:
        await runner.cleanup()


def watched(stdin: int) -> bool:
    """Whether the parent holds the other end; a terminal or a file says nothing of its life."""
    mode = os.fstat(stdin).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _read(over: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        over.set()


def main() -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--config", type=Config.model_validate_json, default=Config())
    parser.add_argument("--max-seconds", type=float, default=900.0)
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(options.config, options.port, options.max_seconds))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed, else asyncio's own."""
    try:
        factory = importlib.import_module("uvloop").new_event_loop
    except ImportError:
        return None
    return cast("Callable[[], asyncio.AbstractEventLoop]", factory)
