"""Files of sources: downloads, and safety checks before one is opened, decoded or rendered."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from contextlib import suppress
from http.client import HTTPException, HTTPMessage
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, NamedTuple
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

from omibench.errors import OmibenchError, PaperError, reason_of
from omibench.files.outputs import replace_atomically
from omibench.files.pictures import READERS
from omibench.files.programs import python_module, run_isolated
from omibench.files.reading import hash_file, open_regular

if TYPE_CHECKING:
    import pymupdf


MAX_PIXELS = 100_000_000
MAX_PAGE_PIXELS = 5 * MAX_PIXELS
"""Maximum pixels of all images of a page, each counted once."""
_HEAD = 1024
_PHOTOGRAPHS = {".png": b"\x89PNG\r\n\x1a\n", ".jpg": b"\xff\xd8\xff", ".jpeg": b"\xff\xd8\xff"}
PAPER_SUFFIXES = (".pdf", *_PHOTOGRAPHS)


def is_photograph(path: Path) -> bool:
    """Return whether a file is a photograph of a page, by its suffix."""
    return path.suffix.lower() in _PHOTOGRAPHS


def hash_regular_file(path: Path) -> str:
    """Return the hash of a regular file's bytes. Raises PaperError `file_missing`, also for a
    pipe."""
    try:
        return hash_file(path)
    except OmibenchError as error:
        raise PaperError("file_missing", str(error)) from None


def check_bytes(path: Path, expected_sha256: str | None = None) -> str:
    """Compare a file with its suffix and with the hash in the manifest; return its SHA-256.

    Raises PaperError `file_missing`, `sha256_mismatch` or `not_a_pdf`.
    """
    digest = hash_regular_file(path)
    if expected_sha256 and digest != expected_sha256.lower():
        raise PaperError(
            "sha256_mismatch",
            f"{path}: has SHA-256 {digest}, but the manifest has {expected_sha256}",
        )
    check_form(path, path)
    return digest


def check_form(path: Path, content: Path) -> None:
    """Compare the suffix of a file with its first bytes, or with those of `content`.

    Raises PaperError `not_a_pdf`.
    """
    with open_regular(content) as file:
        head = file.read(_HEAD)
    if not has_suffix(path):
        raise PaperError("not_a_pdf", f"{path}: the suffix is none of {', '.join(PAPER_SUFFIXES)}")
    magic = _PHOTOGRAPHS.get(path.suffix.lower())
    if not (head.startswith(magic) if magic else b"%PDF-" in head):
        raise PaperError("not_a_pdf", f"{path}: the content is not {path.suffix}")


def has_suffix(path: PurePath) -> bool:
    """Return whether a file has the suffix of a PDF or a photograph."""
    return path.suffix.lower() in PAPER_SUFFIXES


def open_pdf(
    path: Path, max_pages: int, password: str | None
) -> tuple[pymupdf.Document, list[str]]:
    """Open a PDF and return it with the codes of its warnings.

    Raises PaperError `pdf_encrypted`, `pdf_damaged`, `pdf_no_pages` or `pdf_too_many_pages`.
    """
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(path, filetype="pdf")
    except MemoryError:
        raise
    except Exception as error:
        raise PaperError("pdf_damaged", f"{path}: cannot be opened: {error}") from None
    if document.needs_pass and not (password and document.authenticate(password)):
        raise PaperError(
            "pdf_encrypted",
            f"{path}: is locked: {'that password is wrong' if password else 'it needs a password'}",
        )
    try:
        pages = document.page_count
    except RuntimeError as error:  # a list of pages that contains itself
        raise PaperError("pdf_damaged", f"{path}: its pages cannot be counted: {error}") from None
    if pages == 0:
        # A truncated file is "repaired" to no pages; only a complete one ends with its marker.
        is_complete = b"%%EOF" in path.read_bytes()[-_HEAD:]
        if is_complete:
            raise PaperError("pdf_no_pages", f"{path}: has no pages")
        raise PaperError("pdf_damaged", f"{path}: has no readable page")
    if pages > max_pages:
        raise PaperError(
            "pdf_too_many_pages",
            f"{path}: has {pages} pages, but only {max_pages} are allowed",
        )
    codes = ["pdf_repaired"] if document.is_repaired else []
    if not document.permissions & pymupdf.PDF_PERM_COPY:
        codes.append("pdf_permissions")
    return document, codes


def has_huge_image(page: pymupdf.Page) -> bool:
    """Return whether an image of the page, or its mask, declares more than MAX_PIXELS pixels, or
    all images more than MAX_PAGE_PIXELS.

    Only dictionaries are read; nothing is decoded.
    """
    document, total = page.parent, 0
    for xref, mask, width, height, *_ in page.get_images(full=True):
        declared = (_read_declared_pixels(document, number) for number in (xref, mask) if number)
        largest = max(width * height, *declared, 0)
        total += largest
        if largest > MAX_PIXELS or total > MAX_PAGE_PIXELS:
            return True
    return False


def photograph_size(path: Path) -> tuple[int, int]:
    """Return the declared width and height of a photograph in pixels, without decoding it.

    Raises PaperError `pdf_damaged` if the header cannot be read.
    """
    from PIL import Image, UnidentifiedImageError

    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        with open_regular(path) as file, Image.open(file, formats=READERS) as image:
            return image.size
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise PaperError(
            "pdf_damaged", f"{path}: cannot be read as an image: {reason_of(error)}"
        ) from None
    finally:
        Image.MAX_IMAGE_PIXELS = limit


def _read_declared_pixels(document: pymupdf.Document, xref: int) -> int:
    def number(key: str) -> int:
        kind, value = document.xref_get_key(xref, key)
        return int(value) if kind == "int" else 0

    return number("Width") * number("Height")


# Download papers of the manifest, and keep only those with the expected SHA-256.
#
# A manifest may come from an untrusted author. Downloads stay in its folder, must be a PDF or a
# photograph by suffix and first bytes, and get their name only after these checks.

MAX_BYTES = 300 * 2**20
TOTAL_S = 900.0
"""The seconds allowed for one file with all retries, enough for 300 MiB on a slow line."""
_TRIES = 3
_WORKER = "omibench.stages.ocr.sources.files"


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
        process = run_isolated(python_module(_WORKER), job, max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return Transferred(problem="it was not complete in time")
    if process.returncode:
        return Transferred(problem=f"the download process ended with {process.returncode}")
    return Transferred(**json.loads(process.stdout))


# Download one file in a separate process: `python -P -m omibench.stages.ocr.sources.files`.
#
# A server can send one byte per minute forever, which no socket timeout detects. The parent kills
# this process at a fixed time. The job is JSON on standard input, so the address does not appear in
# process lists.

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
