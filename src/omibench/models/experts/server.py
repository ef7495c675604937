"""The server of the experts: one process with all weights, for all jobs of this machine."""

from __future__ import annotations

import io
import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

from omibench.errors import OutputError, ParamsError, reason_of
from omibench.models.drawn import decode_rgb
from omibench.models.experts.kinds import EXPERTS, Expert
from omibench.params.models.tools import ExpertName, ExpertsModel
from omibench.web.address import strip_port

MOST_BYTES: Final = 64 * 2**20
LOCAL: Final = ("127.0.0.1", "localhost", "::1")
log = logging.getLogger("omibench.models.experts")


class ExpertServer(ThreadingHTTPServer):
    """Serves experts on this machine, one request at a time.

    Raises ParamsError if the address is not of this machine, OutputError if it is taken.
    """

    daemon_threads = True

    def __init__(self, model: ExpertsModel, experts: Mapping[ExpertName, Expert]) -> None:
        address = urlsplit(model.base_url)
        host, port = address.hostname or "", 80 if address.port is None else address.port
        if host not in LOCAL or address.scheme != "http":
            raise ParamsError(
                f"base_url: {model.base_url} is not of this machine; the experts are served at "
                "http://127.0.0.1:PORT only, since they ask for no key"
            )
        self.experts, self.weights, self.turn = experts, model.experts, Lock()
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            reason = f"cannot listen at port {port}: {reason_of(error)}"
            raise OutputError(f"base_url: {reason}") from None


class _Handler(BaseHTTPRequestHandler):
    server: ExpertServer
    timeout = 60

    def do_GET(self) -> None:
        """`GET /`: the experts and their weights."""
        self._reply(200, {name: w.model_dump() for name, w in self.server.weights.items()})

    def do_POST(self) -> None:
        """`POST /TOOL`: what an expert finds in a picture."""
        # A page in a browser can neither send JSON to another site nor hide its host name.
        is_json = self.headers.get("Content-Type", "") == "application/json"
        size = self.headers.get("Content-Length", "")
        if strip_port(self.headers.get("Host", "")) not in LOCAL or not is_json:
            return self._reply(403, {"error": "only JSON from this machine is answered"})
        if not size.isdigit() or int(size) > MOST_BYTES:
            return self._reply(413, {"error": f"at most {MOST_BYTES:,} bytes are read"})
        try:
            self._reply(200, self._find(json.loads(self.rfile.read(int(size)))))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            self._reply(400, {"error": reason_of(error)[:300]})
        except Exception as error:
            log.exception("the expert failed")
            self._reply(500, {"error": reason_of(error)[:300]})
        return None

    def _find(self, asked: Any) -> dict[str, Any]:
        name: Any = self.path.strip("/")
        expert, weights = self.server.experts[name], self.server.weights[name]
        image = decode_rgb(b64decode(asked["image"], validate=True))
        with self.server.turn:
            text, picture = expert.find(image, asked["arguments"])
        file = io.BytesIO()
        if picture is not None:
            picture.save(file, "PNG")
        encoded = b64encode(file.getvalue()).decode("ascii")
        return {"weights": weights.model_dump(), "text": text, "picture": encoded}

    def _reply(self, status: int, values: Mapping[str, Any]) -> None:
        data = json.dumps(values).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Log a request."""
        log.debug(format, *args)


def load_experts(model: ExpertsModel) -> ExpertServer:
    """Load the experts of a block and bind the server. Raises as `Expert` and `ExpertServer`."""
    from omibench.extras import require_extra

    require_extra("experts", "omibench experts serve", "torch", "transformers")
    import torch

    device = model.device or ("cuda" if torch.cuda.is_available() else "cpu")
    kinds = {name: EXPERTS[name](weights, device) for name, weights in model.experts.items()}
    return ExpertServer(model, kinds)
