"""Measure how fast text layers are read, with and without formulas, against bare PyMuPDF.

`python benchmarks/formula_speed.py [FOLDER]` reads every PDF of a folder, by default the typeset
papers of the tests, and pages of prose without mathematics. It prints pages per CPU second and
the ratio to PyMuPDF's `get_text("dict")` of the same pages, the best of three rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pymupdf

from omibench.stages.ocr.engines.textlayer import read_lines

PAPERS = Path(__file__).parents[1] / "tests/glyphtex/typeset/shown"
ROUNDS = 3
PROSE_PAGES = 20
FLAGS = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES


def measure(pages: Sequence[pymupdf.Page], read: Callable[[pymupdf.Page], object]) -> float:
    """Return pages per CPU second, the best of the rounds."""
    best = 0.0
    for _ in range(ROUNDS):
        start = time.process_time()
        for page in pages:
            read(page)
        best = max(best, len(pages) / (time.process_time() - start))
    return best


def make_prose() -> pymupdf.Document:
    """Return a document whose pages contain only words."""
    document = pymupdf.open()
    for _ in range(PROSE_PAGES):
        page = document.new_page()
        for row in range(45):
            page.insert_text(
                (60, 60 + 15 * row), "A ball falls from a tower and hits the ground. " * 2
            )
    return document


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=PAPERS)
    folder = parser.parse_args().folder
    documents = [pymupdf.open(path) for path in sorted(folder.rglob("*.pdf"))]
    print("| pages | number | read_lines, pages/s | get_text, pages/s | ratio |")
    print("|---|---|---|---|---|")
    for name, sources in (("with formulas", documents), ("prose alone", [make_prose()])):
        pages = [page for document in sources for page in document]
        ours = measure(pages, lambda page: read_lines(page, 1))
        peer = measure(pages, lambda page: page.get_text("dict", flags=FLAGS))
        print(f"| {name} | {len(pages)} | {ours:.1f} | {peer:.1f} | {ours / peer:.3f} |")


if __name__ == "__main__":
    main()
