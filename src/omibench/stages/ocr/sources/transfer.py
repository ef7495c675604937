"""Download one file in a separate process: `python -P -m omibench.stages.ocr.sources.transfer`.

A server can send one byte per minute forever, which no socket timeout detects. The parent kills
this process at a fixed time. The job is JSON on standard input, so the address does not appear in
process lists.
"""

from __future__ import annotations

import hashlib
import json
import sys
from contextlib import suppress
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

SCHEMES = ("http", "https")
_BLOCK = 2**16
_WAIT_S = 60.0


class Transferred(NamedTuple):
    """The SHA-256 of the written file, or the failure and whether it is temporary."""

    sha256: str = ""
    problem: str = ""
    may_pass: bool = False


class RefusedError(ValueError):
    """A reply that is rejected permanently."""


class _Redirects(HTTPRedirectHandler):
    """Follows redirects only to http and https, and never from https to http."""

    def redirect_request(  # noqa: PLR0913, PLR0917 (the signature is urllib's)
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the request for the redirect. Raises RefusedError."""
        old, new = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if new not in SCHEMES:
            raise RefusedError(f"it redirects to {new!r}, which is neither http nor https")
        if (old, new) == ("https", "http"):
            raise RefusedError(
                "it redirects from https to http, which others on the network can read"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def transfer(url: str, part: Path, max_bytes: int) -> Transferred:
    """Write the contents of `url` to `part`, up to `max_bytes` bytes."""
    try:
        return Transferred(sha256=_write_part(url, part, max_bytes))
    except HTTPError as error:
        with suppress(OSError):
            error.close()
        may_retry = error.code >= 500 or error.code == 429
        return Transferred(problem=_line(f"HTTP {error.code} {error.reason}"), may_pass=may_retry)
    except RefusedError as error:
        return Transferred(problem=_line(error))
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        return Transferred(problem=_line(reason) or type(error).__name__, may_pass=True)


def _write_part(url: str, part: Path, max_bytes: int) -> str:
    digest, size = hashlib.sha256(), 0
    # The manifest allows only http and https; the opener knows no others.
    request = Request(url, headers={"User-Agent": "omibench"})  # noqa: S310
    with _opener().open(request, timeout=_WAIT_S) as reply, part.open("wb") as file:
        length = reply.headers.get("Content-Length") or ""
        if length.isdecimal() and int(length) > max_bytes:
            raise RefusedError(f"more than {max_bytes // 2**20} MiB")
        while block := reply.read(_BLOCK):
            size += len(block)
            if size > max_bytes:
                raise RefusedError(f"more than {max_bytes // 2**20} MiB")
            digest.update(block)
            file.write(block)
        if length.isdecimal() and size != int(length):
            raise OSError(f"the connection ended after {size} of {length} bytes")
    return digest.hexdigest()


def _opener() -> OpenerDirector:
    opener = OpenerDirector()
    handlers = (ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler)
    for kind in (*handlers, _Redirects, HTTPErrorProcessor):
        opener.add_handler(kind())
    return opener


def _line(message: object) -> str:
    return " ".join(str(message).split())[:300]


def main() -> None:
    """Do the job on standard input: {"url", "part", "most"}; print the outcome."""
    job = json.loads(sys.stdin.read())
    print(json.dumps(transfer(job["url"], Path(job["part"]), job["most"])._asdict()))


if __name__ == "__main__":
    main()
