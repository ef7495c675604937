"""One HTML page per paper that opens from disk and loads only adjacent files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from omibench.files.intake import read_bytes
from omibench.files.outputs import made_folder
from omibench.ocr_view.view import LINES, PARTS, build_leaves
from omibench.schemas.pages import FileReport, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_json, read_jsonl, write_text
from omibench.stages.ocr.codes import CODES
from omibench.stages.ocr.layout.places import Layout
from omibench.stages.ocr.sources.manifest import Source
from omibench.web.formulas import FORMULAS_POLICY, join_modules, write_formula_files
from omibench.web.pictures import embed_picture, find_picture
from omibench.web.templates import render_page

SCRIPT: Final = "corrections.js"


def make_look_writer(folder: Path) -> Callable[[FileReport, Source, Path], None]:
    """Return a function that writes the inspection page of each source as `<source>.html`.

    The subfolder `formulas` contains the scripts for formulas and corrections.

    Raises:
        OutputError: The folder cannot be created.
    """
    folder = made_folder(folder, "--look")
    write_formula_files(folder / "formulas")
    script = join_modules("corrections", files("omibench.ocr_view") / "static")
    (folder / "formulas" / SCRIPT).write_text(script, "utf-8")

    def look(report: FileReport, source: Source, reading_folder: Path) -> None:
        write_look(folder / f"{source.slug}.html", report, reading_folder)

    return look


def write_look(path: Path, report: FileReport, folder: Path) -> None:
    """Write the inspection page of one paper from the reader's files in `folder`.

    These are `problems.jsonl`, `pages.jsonl`, and, in `look/`, a layout and page images. A paper
    that could not be read gets a page with the reason.
    """
    layout = Layout(sheets=[], places=[])
    problems: Sequence[Problem] = []
    pages: Sequence[PageText] = []
    if (folder / "look/layout.json").is_file():
        layout = read_json(folder / "look/layout.json", Layout)
        problems = read_jsonl(folder / "problems.jsonl", Problem)
        pages = read_jsonl(folder / "pages.jsonl", PageText)
    page_leaves = build_leaves(report.source, layout, pages, problems)
    cards = {card.problem.number: card for leaf in page_leaves for card in leaf.cards}
    present = {shape.kind for leaf in page_leaves for shape in (*leaf.lines, *leaf.shapes)}
    text = render_page(
        "omibench.ocr_view",
        "look.html.j2",
        csp=FORMULAS_POLICY,
        report=report,
        codes=[(code, CODES[code]) for code in report.codes if code in CODES],
        problems=problems,
        warnings=Counter(w.code for card in cards.values() for w in card.doubts),
        doubts={number: "; ".join(map(str, card.doubts)) for number, card in cards.items()},
        leaves=page_leaves,
        anchors={number: card.anchor for number, card in cards.items()},
        pictures={s.page: _embed(folder / "look", s.picture) for s in layout.sheets if s.picture},
        doubt_crops={
            doubt.anchor: _embed(folder, doubt.file, "image/png")
            for leaf in page_leaves
            for doubt in leaf.doubts
            if doubt.file
        },
        layers=[(kind, word) for kind, word in (PARTS | LINES).items() if kind in present],
        engines=sorted({page.engine for page in pages}),
    )
    write_text(path, text)


def _embed(folder: Path, name: str, media_type: str = "image/jpeg") -> str:
    picture = find_picture(folder, name)
    is_there = picture is not None and picture.is_file()
    return embed_picture(read_bytes(picture), media_type) if picture and is_there else ""
