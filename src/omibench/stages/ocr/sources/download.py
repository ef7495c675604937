"""Download papers of the manifest, and keep only those with the expected SHA-256.

A manifest may come from an untrusted author. Downloads stay in its folder, must be a PDF or a
photograph by suffix and first bytes, and get their name only after these checks.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

from omibench.errors import PaperError, reason_of
from omibench.files.atomic import replace_atomically
from omibench.files.isolated import isolate_env, python_module
from omibench.stages.ocr.sources.check import check_form
from omibench.stages.ocr.sources.transfer import Transferred

MAX_BYTES = 300 * 2**20
TOTAL_S = 900.0
"""The seconds allowed for one file with all retries, enough for 300 MiB on a slow line."""
_TRIES = 3
_WORKER = "omibench.stages.ocr.sources.transfer"


def fetch(  # noqa: PLR0913 - the limits are keywords, for tests
    path: Path,
    url: str,
    sha256: str,
    folder: Path,
    *,
    pause_s: float = 1.0,
    total_s: float = TOTAL_S,
    max_bytes: int = MAX_BYTES,
) -> None:
    """Download `url` to `path` inside `folder`, unless the file exists.

    The file appears only when it is complete, has the expected hash, and its first bytes match the
    suffix (PDF, PNG or JPEG); otherwise nothing is left behind. Temporary failures (no connection,
    server errors) are retried up to three times, at least `pause_s` seconds apart. The download is
    abandoned after `total_s` seconds or `max_bytes` bytes, however the server sends.

    Raises PaperError `download_failed`, `sha256_mismatch` or `not_a_pdf`.
    """
    if path.exists():
        return
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise PaperError(
            "download_failed",
            f"{path}: is outside of {folder}, the folder of its manifest; not downloaded",
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_atomically(path) as part:
            part.touch()  # a folder that cannot be written is said before anything is fetched
            digest = _download(url, part, path, (pause_s, time.monotonic() + total_s, max_bytes))
            if digest != sha256.lower():
                raise PaperError(
                    "sha256_mismatch",
                    f"{path}: the file from {strip_credentials(url)} has SHA-256 {digest}, but the "
                    f"manifest has {sha256}",
                )
            check_form(path, part)
    except OSError as error:
        raise PaperError(
            "download_failed", f"{path}: cannot be written: {reason_of(error)}"
        ) from None


def strip_credentials(url: str) -> str:
    """Return a URL without possible secrets: user, password, query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _download(url: str, part: Path, path: Path, limits: tuple[float, float, int]) -> str:
    """Return the SHA-256 of the file written to `part`."""
    pause_s, until, max_bytes = limits
    for attempt in range(_TRIES):
        transferred = _once(url, part, until, max_bytes)
        if transferred.sha256:
            return transferred.sha256
        if not transferred.may_pass or time.monotonic() + pause_s * 2**attempt >= until:
            break
        if attempt + 1 < _TRIES:
            time.sleep(pause_s * 2**attempt)
    raise PaperError(
        "download_failed",
        f"{path}: cannot be downloaded from {strip_credentials(url)}: {transferred.problem}",
    )


def _once(url: str, part: Path, until: float, max_bytes: int) -> Transferred:
    job = json.dumps({"url": url, "part": str(part), "most": max_bytes})
    try:
        process = subprocess.run(
            python_module(_WORKER), input=job, capture_output=True, encoding="utf-8",
            env=isolate_env(os.environ), timeout=max(0.0, until - time.monotonic()), check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Transferred(problem="it was not complete in time")
    if process.returncode:
        return Transferred(problem=f"the download process ended with {process.returncode}")
    return Transferred(**json.loads(process.stdout))
