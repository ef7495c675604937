"""Typesets every paper and writes it with its truth.

    python -m tests.glyphtex.typeset.make
    python -m tests.glyphtex.typeset.make --seed 101 --out FOLDER/101 --only typst

The second command makes other papers of the same grammar, to practise on.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pymupdf
from tests.glyphtex.typeset.make import tex as tex_source
from tests.glyphtex.typeset.make import typst_text as typst_source
from tests.glyphtex.typeset.make import word
from tests.glyphtex.typeset.make.boxes import check_places, find_boxes, find_lines
from tests.glyphtex.typeset.make.broken import BROKEN, write_broken
from tests.glyphtex.typeset.make.documents import Check, Paper, Printed, write_paper
from tests.glyphtex.typeset.make.tex import LUATEX, read_colour
from tests.glyphtex.typeset.make.typed import can_type, type_formulas

COLOURS: Final = (False, True)
FOLDER: Final = Path(__file__).parents[1]
SEED: Final = 17
BROKEN_SETUPS: Final = (
    ("pdftex", "cm", "shown"), ("luatex", "latinmodern-math", "held"),
    ("typst", "newcm", "shown"), ("typst", "newcm", "held"),
    ("libreoffice", "liberation", "shown"), ("libreoffice", "liberation", "held"),
)  # fmt: skip
"""Tool, fonts and folder of the papers of long formulas.

LibreOffice never breaks its objects: there, the formulas are typed as text.
"""
LEAST_BROKEN: Final = 10
"""Least number of broken formulas in such a paper."""
SIZES: Final = {"shown": 26, "held": 13}
"""Problems in one column, by the folder; two thirds of the formulas are shown."""


def main() -> None:
    """Make the papers whose names contain what `--only` says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="part of the paper's name: tool-fonts-folder")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of formulas and sentences")
    parser.add_argument(
        "--out", type=Path, help="folder for the papers; needed with a seed other than the default"
    )
    options = parser.parse_args()
    if options.out is None and options.seed != SEED:
        parser.error(f"--seed {options.seed} needs --out: its papers are not those of {FOLDER}")
    whole = [(tool, fonts, folder, "") for tool, fonts in list_setups() for folder in SIZES]
    for tool, fonts, folder, kind in [*whole, *((*setup, BROKEN) for setup in BROKEN_SETUPS)]:
        name = "-".join(filter(None, (tool, fonts, kind)))
        if options.only in f"{name}-{folder}":
            setup = Setup(name, tool, fonts, folder, bool(kind))
            make_paper(setup, options.seed, (options.out or FOLDER) / folder)


class Setup(NamedTuple):
    """Name of a paper, its typesetting program, choice of fonts, and folder: `shown` or `held`."""

    name: str
    tool: str
    fonts: str
    folder: str
    is_broken: bool
    """Whether its formulas are long."""


def list_setups() -> list[tuple[str, str]]:
    """Tool and fonts of every paper."""
    tex = [("luatex" if fonts in LUATEX else "pdftex", fonts) for fonts in tex_source.FONTS]
    typst = [("typst", fonts) for fonts in typst_source.FONTS]
    return [*tex, *typst, *(("libreoffice", fonts) for fonts in word.FONTS)]


def make_paper(setup: Setup, seed: int, target: Path) -> None:
    """Typeset one paper and write it with its truth.

    Args:
        setup: What is typeset, and how.
        seed: Seed of formulas and sentences.
        target: Folder, created if needed.

    Raises:
        ValueError: Too few long formulas are broken.
    """
    name, tool, fonts, folder, is_broken = setup
    is_typed = is_broken and tool == "libreoffice"
    can_set: Check = can_type if is_typed else word.can_set if tool == "libreoffice" else bool
    if is_broken:
        paper = write_broken(f"{name}-{folder}", folder, seed, can_set)
    else:
        paper = write_paper(f"{name}-{folder}", SIZES[folder], seed, can_set)
    formulas = list(paper.list_formulas())
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        plain, coloured = PRESSES["typed" if is_typed else tool](paper, fonts, Path(scratch))
        check_places(plain, coloured)
        lines = find_lines(coloured, len(formulas)) if is_broken else {}
        boxes = find_boxes(coloured, len(formulas))
        write_pdf(plain, target / f"{name}.pdf", is_tagged=not is_broken)
    count = sum(len(found) > 1 for _, found in lines.values())
    if is_broken and count < LEAST_BROKEN and seed == SEED:
        raise ValueError(f"{name}: {count} formulas are broken; give the paper more problems")
    boxes |= {serial: (page, found[0]) for serial, (page, found) in lines.items()}
    truth = describe_paper(paper, tool, name.removeprefix(f"{tool}-"), boxes)
    for serial, (_, found) in lines.items():
        if len(found) > 1:
            truth["formulas"][serial - 1] |= {"kind": BROKEN, "lines": found}
    (target / f"{name}.json").write_text(write_compact(truth), "utf-8")
    print(name, folder, len(formulas), count, (target / f"{name}.pdf").stat().st_size)


def write_compact(truth: dict[str, Any]) -> str:
    """The truth of a paper as JSON with a block or a formula in each line."""
    rows = {
        key: ",\n".join(json.dumps(row, ensure_ascii=False) for row in truth[key])
        for key in ("blocks", "formulas")
    }
    head = json.dumps({"tool": truth["tool"], "fonts": truth["fonts"]})[:-1]
    return head + "".join(f', "{key}": [\n{text}\n]' for key, text in rows.items()) + "}\n"


def print_tex(paper: Paper, fonts: str, folder: Path) -> list[Path]:
    """The paper in black and in colour, by pdfTeX or LuaTeX."""
    sources = {colour: tex_source.write_tex(paper, fonts, colour=colour) for colour in COLOURS}
    return [tex_source.run_tex(sources[c], fonts, folder / str(c)) for c in COLOURS]


def print_typst(paper: Paper, fonts: str, folder: Path) -> list[Path]:
    """The paper in black and in colour, by Typst."""
    sources = {colour: typst_source.write_typst(paper, fonts, colour=colour) for colour in COLOURS}
    return [typst_source.run_typst(sources[c], folder / str(c)) for c in COLOURS]


def print_word(paper: Paper, fonts: str, folder: Path) -> list[Path]:
    """The paper in black and in colour, by LibreOffice."""
    document = folder / "paper.docx"
    word.write_word(paper, fonts, document)
    flat = word.convert(document, "fodt", folder)
    coloured = folder / "coloured.fodt"
    colours = [read_colour(n) for n, _ in enumerate(paper.list_formulas(), 1)]
    coloured.write_text(word.colour_formulas(flat.read_text("utf-8"), colours), "utf-8")
    return [word.convert(source, "pdf", folder) for source in (flat, coloured)]


def print_typed(paper: Paper, fonts: str, folder: Path) -> list[Path]:
    """The paper in black and in colour, by LibreOffice, with its formulas typed as text."""
    documents = []
    for colours in COLOURS:
        document = folder / f"{colours}.docx"
        write = type_formulas(list(paper.list_formulas()), colours=colours)
        word.write_word(paper, fonts, document, write)
        documents.append(word.convert(document, "pdf", folder))
    return documents


PRESSES: Final[dict[str, Callable[[Paper, str, Path], list[Path]]]] = {
    "pdftex": print_tex,
    "luatex": print_tex,
    "typst": print_typst,
    "libreoffice": print_word,
    "typed": print_typed,
}


def write_pdf(source: Path, target: Path, *, is_tagged: bool = True) -> None:
    """Write a PDF without dates, names of producers and identifiers, and without tags if not
    wanted."""
    with pymupdf.open(source) as document:
        if not is_tagged:
            for key in ("StructTreeRoot", "MarkInfo", "Outlines"):
                document.xref_set_key(document.pdf_catalog(), key, "null")
        document.set_metadata({})
        document.del_xml_metadata()
        document.xref_set_key(-1, "ID", "null")
        document.save(target, garbage=4, deflate=True, deflate_fonts=True, no_new_id=True)


def describe_paper(
    paper: Paper, tool: str, fonts: str, boxes: dict[int, tuple[int, list[float]]]
) -> dict[str, Any]:
    """The truth of a paper: its blocks as text with formulas between dollars, and each formula."""
    mend = word.as_printed if tool == "libreoffice" else str
    formulas = []
    for serial, formula in enumerate(paper.list_formulas(), 1):
        page, box = boxes[serial]
        formulas.append(
            {"id": formula.id, "page": page + 1, "box": box, "latex": mend(formula.latex),
             "kind": formula.kind, "display": formula.display}
        )  # fmt: skip
    blocks = []
    for block in paper.list_blocks():
        parts = [
            f"${mend(part.latex)}$" if isinstance(part, Printed) else part.replace("$", r"\$")
            for part in block.parts
        ]
        if block.kind == "choices":
            parts = [f"({letter}) {text}" for letter, text in zip("ABCD", parts, strict=True)]
        numbers = [f" ({p.number})" for p in block.parts if isinstance(p, Printed) and p.number]
        text = (" " if block.kind == "choices" else "").join(parts) + "".join(numbers)
        blocks.append(f"{block.label} {text}".strip())
    return {"tool": tool, "fonts": fonts, "blocks": blocks, "formulas": formulas}


main()
