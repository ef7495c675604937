"""Typesets every paper and writes it with its truth.

    python -m tests.stages.ocr.formulas.typeset.make
    python -m tests.stages.ocr.formulas.typeset.make --seed 101 --out FOLDER/101 --only typst

The second command makes other papers of the same grammar, to practise on.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pymupdf
from tests.stages.ocr.formulas.typeset.make import tex as tex_source
from tests.stages.ocr.formulas.typeset.make import typst_text as typst_source
from tests.stages.ocr.formulas.typeset.make import word
from tests.stages.ocr.formulas.typeset.make.boxes import check_places, find_boxes, find_lines
from tests.stages.ocr.formulas.typeset.make.broken import BROKEN, write_broken
from tests.stages.ocr.formulas.typeset.make.documents import Check, Paper, Printed, write_paper
from tests.stages.ocr.formulas.typeset.make.tex import LUATEX, read_colour
from tests.stages.ocr.formulas.typeset.make.typed import can_type, type_formulas

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
    for tool, fonts in list_setups():
        for folder in SIZES:
            if options.only in f"{tool}-{fonts}-{folder}":
                make_paper(tool, fonts, folder, seed=options.seed, out=options.out or FOLDER)
    for tool, fonts, folder in BROKEN_SETUPS:
        if options.only in f"{tool}-{fonts}-{BROKEN}-{folder}":
            make_broken(tool, fonts, folder, seed=options.seed, out=options.out or FOLDER)


def list_setups() -> list[tuple[str, str]]:
    """Tool and fonts of every paper."""
    tex = [("luatex" if fonts in LUATEX else "pdftex", fonts) for fonts in tex_source.FONTS]
    typst = [("typst", fonts) for fonts in typst_source.FONTS]
    return [*tex, *typst, *(("libreoffice", fonts) for fonts in word.FONTS)]


def make_paper(tool: str, fonts: str, folder: str, *, seed: int = SEED, out: Path = FOLDER) -> None:
    """Typeset one paper and write it with its truth.

    Args:
        tool: Typesetting program.
        fonts: Choice of fonts, as in `list_setups`.
        folder: `shown` or `held`, a folder in `out`.
        seed: Seed of formulas and sentences.
        out: Folder, created if needed.
    """
    name = f"{tool}-{fonts}"
    check: Check = word.can_set if tool == "libreoffice" else lambda _: True
    paper = write_paper(f"{name}-{folder}", SIZES[folder], seed, check)
    target = out / folder
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        plain, coloured = PRESSES[tool](paper, fonts, Path(scratch))
        check_places(plain, coloured)
        boxes = find_boxes(coloured, len(list(paper.list_formulas())))
        write_pdf(plain, target / f"{name}.pdf")
    truth = describe_paper(paper, tool, fonts, boxes)
    (target / f"{name}.json").write_text(
        json.dumps(truth, ensure_ascii=False, indent=1) + "\n", "utf-8"
    )
    print(name, folder, len(truth["formulas"]), (target / f"{name}.pdf").stat().st_size)


def make_broken(tool: str, fonts: str, folder: str, *, seed: int, out: Path) -> None:
    """Typeset one paper of long formulas and write it with its truth.

    The arguments are those of `make_paper`.

    Raises:
        ValueError: Too few of its formulas are broken.
    """
    name = f"{tool}-{fonts}-{BROKEN}"
    is_typed = tool == "libreoffice"
    check: Check = can_type if is_typed else lambda _: True
    paper = write_broken(f"{name}-{folder}", folder, seed, check)
    formulas = list(paper.list_formulas())
    target = out / folder
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        press = print_typed if is_typed else PRESSES[tool]
        plain, coloured = press(paper, fonts, Path(scratch))
        check_places(plain, coloured)
        lines = find_lines(coloured, len(formulas))
        count = sum(len(boxes) > 1 for _, boxes in lines.values())
        if count < LEAST_BROKEN and seed == SEED:
            raise ValueError(f"{name}: {count} formulas are broken; give the paper more problems")
        write_pdf(plain, target / f"{name}.pdf", is_tagged=False)
    first = {serial: (page, boxes[0]) for serial, (page, boxes) in lines.items()}
    truth = describe_paper(paper, tool, f"{fonts}-{BROKEN}", first)
    for serial, row in enumerate(truth["formulas"], 1):
        if len(lines[serial][1]) > 1:
            row |= {"kind": BROKEN, "lines": lines[serial][1]}
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
    return [
        tex_source.run_tex(
            tex_source.write_tex(paper, fonts, colour=colour), fonts, folder / str(colour)
        )
        for colour in (False, True)
    ]


def print_typst(paper: Paper, fonts: str, folder: Path) -> list[Path]:
    """The paper in black and in colour, by Typst."""
    return [
        typst_source.run_typst(
            typst_source.write_typst(paper, fonts, colour=colour), folder / str(colour)
        )
        for colour in (False, True)
    ]


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
    for colours in (False, True):
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
