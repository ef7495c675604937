"""Safety checks before a file is opened, decoded or rendered."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from omibench.errors import OmibenchError, PaperError, reason_of
from omibench.files.hashes import hash_file
from omibench.files.intake import open_regular
from omibench.files.intake.picture import READERS

if TYPE_CHECKING:
    import pymupdf

MAX_PIXELS = 100_000_000
_HEAD = 1024
_PHOTOGRAPHS = {".png": b"\x89PNG\r\n\x1a\n", ".jpg": b"\xff\xd8\xff", ".jpeg": b"\xff\xd8\xff"}
SUFFIXES = (".pdf", *_PHOTOGRAPHS)


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
        raise PaperError("not_a_pdf", f"{path}: the suffix is none of {', '.join(SUFFIXES)}")
    magic = _PHOTOGRAPHS.get(path.suffix.lower())
    if not (head.startswith(magic) if magic else b"%PDF-" in head):
        raise PaperError("not_a_pdf", f"{path}: the content is not {path.suffix}")


def has_suffix(path: PurePath) -> bool:
    """Return whether a file has the suffix of a PDF or a photograph."""
    return path.suffix.lower() in SUFFIXES


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
    if document.page_count == 0:
        # A truncated file is "repaired" to no pages; only a complete one ends with its marker.
        is_complete = b"%%EOF" in path.read_bytes()[-_HEAD:]
        if is_complete:
            raise PaperError("pdf_no_pages", f"{path}: has no pages")
        raise PaperError("pdf_damaged", f"{path}: has no readable page")
    if document.page_count > max_pages:
        raise PaperError(
            "pdf_too_many_pages",
            f"{path}: has {document.page_count} pages, but only {max_pages} are allowed",
        )
    codes = ["pdf_repaired"] if document.is_repaired else []
    if not document.permissions & pymupdf.PDF_PERM_COPY:
        codes.append("pdf_permissions")
    return document, codes


def has_huge_image(page: pymupdf.Page) -> bool:
    """Return whether an image of the page, or its mask, declares more than MAX_PIXELS pixels.

    Only dictionaries are read; nothing is decoded.
    """
    document = page.parent
    for xref, mask, width, height, *_ in page.get_images(full=True):
        if width * height > MAX_PIXELS or (
            mask and _read_declared_pixels(document, mask) > MAX_PIXELS
        ):
            return True
        if xref and _read_declared_pixels(document, xref) > MAX_PIXELS:
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
