"""A server that answers as an attacker likes, and bounds on what a victim may spend."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Got(NamedTuple):
    """One request. `head` is its first line and headers as text."""

    method: str
    path: str
    head: str
    body: bytes


class Answer(NamedTuple):
    """What goes back: pieces are sent one by one until the client hangs up.

    Without a status there are no headers but what the pieces hold.
    """

    status: int = 200
    headers: dict[str, str] = {}
    pieces: Iterable[bytes] = ()


@dataclass
class Hostile:
    """A running server."""

    url: str = ""
    got: list[Got] = field(default_factory=list)
    sent: int = 0
    """Bytes of bodies that went out."""


@contextmanager
def hostile(reply: Callable[[Got], Answer]) -> Iterator[Hostile]:
    """Serve on a free port of this machine until the block ends."""
    server_state = Hostile()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            got = Got(
                self.command, self.path, f"{self.requestline}\n{self.headers}",
                self.rfile.read(size),
            )  # fmt: skip
            server_state.got.append(got)
            answer = reply(got)
            try:
                if answer.status:
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.send_header("connection", "close")
                    self.end_headers()
                for piece in answer.pieces:
                    self.wfile.write(piece)
                    self.wfile.flush()
                    server_state.sent += len(piece)
            except OSError:  # the client has hung up
                pass
            self.close_connection = True

        do_GET = do_HEAD = do_POST = handle_any

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    server_state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server_state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def drip(seconds: float) -> Iterator[bytes]:
    """A body of which a byte comes now and then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield b" "
        time.sleep(0.02)


def drip_head(seconds: float) -> Iterator[bytes]:
    """A header that has no end, of an answer without a status of its own."""
    yield b"HTTP/1.1 200 OK\r\nx-word: "
    yield from (b"a" for _ in drip(seconds))


@contextmanager
def bounded(cpu_s: float = 3.0, memory_mib: int = 400) -> Iterator[None]:
    """Fail if what the block does takes more than so much."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    yield
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < cpu_s
    assert (after.ru_maxrss - before.ru_maxrss) / 1024 < memory_mib
