"""Papers fetched from where the manifest says, kept only when their SHA-256 is the one it names."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from omibench.errors import PaperError, reason_of

MAX_BYTES = 300 * 2**20
_BLOCK = 2**16
_WAIT_S = 60.0
_TRIES = 3


def fetch(path: Path, url: str, sha256: str, *, pause_s: float = 1.0) -> None:
    """Download `url` into `path` unless a file is there; a wrong one leaves nothing behind.

    The file appears only when it is whole and its hash is right. What may pass by itself (no
    connection, a server's error) is tried three times, `pause_s` seconds and more apart.

    Raises PaperError `download_failed` or `sha256_mismatch`.
    """
    if path.exists():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    except OSError as error:
        raise PaperError(
            "download_failed", f"{path}: cannot be written: {reason_of(error)}"
        ) from None
    part = Path(name)
    os.close(handle)
    try:
        digest = _download(url, part, path, pause_s)
        if digest != sha256.lower():
            raise PaperError(
                "sha256_mismatch",
                f"{path}: what {shown(url)} gives has SHA-256 {digest}, the manifest says {sha256}",
            )
        part.chmod(0o644)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def shown(url: str) -> str:
    """A URL without what may be secret in it: user, password, query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _download(url: str, part: Path, path: Path, pause_s: float) -> str:
    """The SHA-256 of what was written to `part`."""
    from http.client import HTTPException
    from urllib.error import HTTPError

    for attempt in range(_TRIES):
        try:
            return _once(url, part)
        except HTTPError as error:
            problem = f"HTTP {error.code} {error.reason}"
            with suppress(OSError):
                error.close()
            if error.code < 500 and error.code != 429:
                break
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            problem = " ".join(str(reason).split()) or type(error).__name__
        if attempt + 1 < _TRIES:
            time.sleep(pause_s * 2**attempt)
    raise PaperError("download_failed", f"{path}: cannot be had from {shown(url)}: {problem}")


def _once(url: str, part: Path) -> str:
    from urllib.request import Request, urlopen

    digest = hashlib.sha256()
    # The manifest allows http and https alone.
    request = Request(url, headers={"User-Agent": "omibench"})  # noqa: S310
    with urlopen(request, timeout=_WAIT_S) as reply, part.open("wb") as file:  # noqa: S310
        length = reply.headers.get("Content-Length")
        while block := reply.read(_BLOCK):
            digest.update(block)
            if file.write(block) and file.tell() > MAX_BYTES:
                raise ValueError(f"more than {MAX_BYTES // 2**20} MiB")
        if length and length.isdecimal() and file.tell() != int(length):
            raise OSError(f"the connection ended after {file.tell()} of {length} bytes")
    return digest.hexdigest()
