"""A server that speaks Mathpix' v3/pdf and v3/text, for tests: what it is sent it counts."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ID, KEY = "an-app", "a-secret-key"


@dataclass
class Mathpix:
    """What the server answers and what it has seen. `polls` is how long a paper takes."""

    pages: list[dict[str, Any]] = field(default_factory=list)
    text: dict[str, Any] = field(default_factory=dict)
    polls: int = 1
    busy: int = 0
    """How many calls are answered with 429 first."""
    fails: str | None = None
    """What jobs fail with."""
    seen: Counter[str] = field(default_factory=Counter)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""


def line(text: str, x: int, y: int, width: int, height: int, **more: Any) -> dict[str, Any]:
    """A line as lines.json has it."""
    region = {"top_left_x": x, "top_left_y": y, "width": width, "height": height}
    return {"type": "text", "text": text, "region": region, "confidence": 0.98, **more}


@contextmanager
def running(mathpix: Mathpix) -> Iterator[Mathpix]:
    """Serve on a free port of this machine until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(size)
            if self._admitted():
                mathpix.bodies.append(body)
                self._answer(200, {"pdf_id": "job-1"} if self.path == "/v3/pdf" else mathpix.text)

        def do_GET(self) -> None:
            if not self._admitted():
                return
            if self.path.endswith(".lines.json"):
                self._answer(200, {"pages": mathpix.pages})
            elif mathpix.fails:
                self._answer(200, {"status": "error", "error": mathpix.fails})
            else:
                done = mathpix.seen[self.path] > mathpix.polls
                self._answer(200, {"status": "completed" if done else "split"})

        def _admitted(self) -> bool:
            mathpix.seen[self.path] += 1
            if (self.headers.get("app_id"), self.headers.get("app_key")) != (ID, KEY):
                self._answer(401, {"error": "Invalid credentials"})
                return False
            if mathpix.busy:
                mathpix.busy -= 1
                self._answer(429, {"error": "Too many requests"})
                return False
            return True

        def _answer(self, status: int, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    mathpix.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield mathpix
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
