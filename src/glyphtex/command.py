"""Command `glyphtex`: formulas of papers as JSON lines, or as an HTML page to look at."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path

from glyphtex.papers import PaperError, PrintedFormula, read_paper

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
    pictures = options.html is not None
    try:
        for path in options.papers:
            try:
                for page in read_paper(
                    path, options.pages, seconds=options.seconds, pictures=pictures
                ):
                    for note in page.notes:
                        _warn(f"{path}, page {page.number}: {note}")
                    if page.failure:
                        failed = True
                        _warn(f"{path}, page {page.number}: {page.failure}")
                    formulas += page.formulas if pictures else ()
                    _print(() if pictures else page.formulas)
            except PaperError as error:
                failed = True
                _warn(str(error))
        if pictures:
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
        names = ("paper", "page", "latex", "box", "boxes", "doubts")
        print(json.dumps({name: getattr(formula, name) for name in names}, ensure_ascii=False))
    sys.stdout.flush()


def _warn(text: str) -> None:
    print(f"glyphtex: {text}", file=sys.stderr)
