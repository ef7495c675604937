"""Command `glyphtex`: formulas of papers as JSON lines, or as an HTML page to look at.

Papers are read page by page in a process with limits: a hostile page costs only itself.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from html import escape
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

_STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h2 { margin-top: 2rem; border-bottom: 1px solid #bbb; }
table { border-collapse: collapse; width: 100%; }
td { padding: .5rem; vertical-align: middle; border-bottom: 1px solid #ddd; }
td:first-child { width: 50%; background: #fff; }
img { max-width: 100%; height: auto; }
code, h2 { overflow-wrap: anywhere; }
.doubt { color: #a33; font-size: .875rem; margin: .25rem 0 0; }
@media (max-width: 40rem) {
  td, td:first-child { display: block; width: auto; }
  td:first-child { border: 0; }
}
@media (prefers-color-scheme: dark) {
  body { background: #181818; color: #e8e8e8; }
  .doubt { color: #f99; }
}"""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        words: Command line without the name of the program; by default that of the process.

    Returns:
        0; 1 if a paper or a page could not be read.
    """
    options = _parse(words)
    if find_spec("pymupdf") is None:
        _warn("PDFs are read with PyMuPDF, which is not installed: pip install 'omibench[pdf]'")
        return 1
    failed = False
    formulas: list[PrintedFormula] = []
    limits = {"seconds": options.seconds, "pictures": options.html is not None}
    try:
        for path in options.papers:
            try:
                for page in read_paper(path, options.pages, **limits):
                    for note in filter(None, (*page.notes, page.failure)):
                        _warn(f"{path}, page {page.number}: {note}")
                    failed = failed or bool(page.failure)
                    if options.html:
                        formulas += page.formulas
                    else:
                        _print(page.formulas)
            except PaperError as error:
                failed = True
                _warn(str(error))
        if options.html:
            options.html.write_text(write_page(formulas), "utf-8")
    except BrokenPipeError:  # the reader of the output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        _warn(f"{options.html}: cannot be written: {error.strerror}")
        return 1
    return int(failed)


def write_page(formulas: Sequence[PrintedFormula]) -> str:
    """Write an HTML page with the picture, the LaTeX and the doubts of each formula.

    It loads nothing, and text of the papers is escaped.
    """
    parts = [
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>",
        "<meta http-equiv='Content-Security-Policy' "
        "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">",
        "<meta name='viewport' content='width=device-width'><title>Formulas</title>",
        f"<style>\n{_STYLE}\n</style></head><body><main>\n<h1>{len(formulas)} formulas, "
        f"{sum(bool(formula.doubts) for formula in formulas)} with a doubt</h1>",
    ]
    place = None
    for number, formula in enumerate(formulas, 1):
        if place != (formula.paper, formula.page):
            parts.append("</table>" if place else "")
            place = (formula.paper, formula.page)
            parts.append(f"<h2>{escape(formula.paper)}, page {formula.page}</h2>\n<table>")
        doubts = "".join(f"<p class='doubt'>{escape(doubt)}</p>" for doubt in formula.doubts)
        parts.append(
            f"<tr><td><img alt='formula {number}' src='data:image/png;base64,{formula.picture}'>"
            f"</td><td><code>{escape(formula.latex)}</code>{doubts}</td></tr>"
        )
    return "\n".join([*parts, "</table>" if place else "", "</main></body></html>\n"])


def _parse(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="glyphtex",
        description="Read the formulas of PDFs with a text layer as LaTeX, without a model. One "
        "JSON line per formula: paper, page, latex, box and boxes (points from the top left "
        "corner), doubts (why the reading may be wrong).",
    )
    parser.add_argument("papers", nargs="+", type=Path, metavar="PAPER.pdf")
    parser.add_argument(
        "--pages",
        type=_parse_pages,
        default=[],
        metavar="1-3,5",
        help="pages to read; default: all",
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with pictures instead of JSON"
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="time after which a page is given up"
    )
    return parser.parse_args(words)


def _parse_pages(text: str) -> list[range]:
    ranges = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([1-9]\d{0,5})(?:\s*-\s*([1-9]\d{0,5}))?\s*", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"{part!r} is no page or range, such as 5 or 1-3")
        ranges.append(range(int(match[1]), int(match[2] or match[1]) + 1))
    return ranges


def _print(formulas: Sequence[PrintedFormula]) -> None:
    for formula in formulas:
        row = formula._asdict()
        del row["picture"]
        print(json.dumps(row, ensure_ascii=False))
    sys.stdout.flush()


def _warn(text: str) -> None:
    print(f"glyphtex: {text}", file=sys.stderr)


# Papers, read in a process of their own.

MEMORY_BYTES = 4 * 2**30
"""Address space of the reading process, where the system can limit it."""
_LONGEST_START_S = 30.0
_MARGIN = 4.0
_ZOOM = 2.5
_LONGEST = 1600
"""Maximum side of a formula's picture in pixels."""


class PaperError(Exception):
    """A paper that cannot be read; the message names it and the reason."""


class PrintedFormula(NamedTuple):
    """A formula of a paper, as the command writes it.

    `box` and `boxes` are in points from the top left corner of the upright page; `picture` is a
    PNG in base64, if one was requested.
    """

    paper: str
    page: int
    latex: str
    box: list[float]
    boxes: list[list[float]]
    doubts: list[str]
    picture: str = ""


class PaperPage(NamedTuple):
    """The formulas of a page, and messages about what was not read."""

    number: int
    formulas: list[PrintedFormula]
    notes: list[str]
    failure: str = ""


def read_paper(
    path: Path,
    pages: Sequence[range] = (),
    *,
    seconds: float = 60.0,
    pictures: bool = False,
) -> Iterator[PaperPage]:
    """Read the formulas of a PDF, page by page.

    Args:
        path: The PDF.
        pages: Numbers of the pages to read, from 1; all without any.
        seconds: Wall time after which a page is given up.
        pictures: Whether to cut a picture of each formula.

    Yields:
        The pages in order; `failure` is why one could not be read.

    Raises:
        PaperError: The file is missing, no PDF, protected by a password, or lacks a page.
    """
    if not path.is_file():
        raise PaperError(f"{path}: there is no such file")
    waiting: list[int] | None = None
    while waiting is None or waiting:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        job = (str(path), [*pages], waiting, pictures)
        process = context.Process(target=_serve, args=(theirs, *job), daemon=True)
        process.start()
        theirs.close()
        try:
            head = _receive(ours, max(seconds, _LONGEST_START_S))
            if head is None or "error" in head:
                reason = head["error"] if head else "its list of pages cannot be read"
                raise PaperError(f"{path}: {reason}")
            waiting = head["pages"]
            while waiting:
                reply = _receive(ours, seconds)
                number = waiting.pop(0)
                if reply is None:
                    process.join(0.1)
                    reason = (
                        f"was not read within {seconds:g} s"
                        if process.is_alive()
                        else "ended the process that read it; it may need too much memory"
                    )
                    yield PaperPage(number, [], [], reason)
                    break
                formulas = [PrintedFormula(str(path), number, **e) for e in reply["formulas"]]
                yield PaperPage(number, formulas, reply["notes"], reply["failure"])
        finally:
            process.kill()
            process.join()
            ours.close()


def _receive(connection: Connection, seconds: float) -> dict[str, Any] | None:
    """Return the next reply of the process; None if it ended or took too long."""
    try:
        if not connection.poll(seconds):
            return None
        reply: dict[str, Any] = json.loads(connection.recv_bytes())
    except (EOFError, OSError):
        return None
    return reply


# In the process that reads: the number of pages first, then one reply per page.


def _serve(
    connection: Connection,
    path: str,
    ranges: Sequence[range],
    numbers: Sequence[int] | None,
    pictures: bool,
) -> None:
    import pymupdf

    def send(**reply: Any) -> None:
        connection.send_bytes(json.dumps(reply).encode())

    _limit_memory()
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(path, filetype="pdf")
    except Exception:
        document = None
    if document is None or not document.is_pdf:
        send(error="is not a PDF that can be read")
        return
    if document.needs_pass:
        send(error="is protected by a password")
        return
    whole = range(1, len(document) + 1)
    missing = [pages[-1] for pages in ranges if pages[-1] not in whole]
    if missing:
        send(error=f"has {len(whole)} pages, and no page {missing[0]}")
        return
    chosen = numbers or [number for pages in ranges or [whole] for number in pages]
    send(pages=chosen)
    for number in chosen:
        send(**_read(document, number, pictures))


def _read(document: Any, number: int, pictures: bool) -> dict[str, Any]:
    from glyphtex.pages import search_page

    try:
        page = document[number - 1]
        reading = search_page(page)
        notes = list(reading.unread)
        if reading.is_partial:
            notes.append("has more text or drawings than are searched; formulas may be missing")
        if not page.get_text("text").strip():
            notes.append("has no text layer; a scanned page needs OCR first")
        entries = [
            {
                "latex": formula.latex,
                "box": formula.box.round(),
                "boxes": [box.round() for box in formula.boxes],
                "doubts": formula.doubts,
                "picture": _cut(page, formula.box) if pictures else "",
            }
            for formula in reading.formulas
        ]
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        failure = f"cannot be read ({type(error).__name__}: {reason})"
        return {"formulas": [], "notes": [], "failure": failure}
    return {"formulas": entries, "notes": notes, "failure": ""}


def _cut(page: Any, box: Any) -> str:
    import pymupdf

    clip = pymupdf.Rect(box.grow(_MARGIN, _MARGIN)) & page.rect
    if clip.is_empty:
        return ""
    zoom = min(_ZOOM, _LONGEST / max(clip.width, clip.height))
    pixels = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=clip, alpha=False)
    return base64.b64encode(pixels.tobytes("png")).decode()


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    except (ImportError, OSError, ValueError):
        return
