# ruff: noqa: E501 (formulas and preambles stand on lines of their own)
"""Papers as sources of pdfTeX and LuaTeX."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

from tests.glyphtex.typeset.make.documents import Block, Paper, Printed

FONTS: Final = {
    "cm": "",
    "lm": r"\usepackage[T1]{fontenc}\usepackage{lmodern}",
    "newtx": r"\usepackage[T1]{fontenc}\usepackage{newtxtext}\usepackage{newtxmath}",
    "euler": r"\usepackage[T1]{fontenc}\usepackage{lmodern}\usepackage[euler-digits]{eulervm}",
    "stix2": r"\usepackage[T1]{fontenc}\usepackage{stix2}",
    "latinmodern-math": r"\usepackage{unicode-math}\setmathfont{latinmodern-math.otf}",
    "stix-two-math": r"\usepackage{unicode-math}\setmainfont{STIXTwoText-Regular.otf}[BoldFont=STIXTwoText-Bold.otf,ItalicFont=STIXTwoText-Italic.otf]\setmathfont{STIXTwoMath-Regular.otf}",
    "xits-math": r"\usepackage{unicode-math}\setmainfont{XITS-Regular.otf}[BoldFont=XITS-Bold.otf,ItalicFont=XITS-Italic.otf]\setmathfont{XITSMath-Regular.otf}",
    "newcm-math": r"\usepackage{unicode-math}\setmainfont{NewCM10-Regular.otf}[BoldFont=NewCM10-Bold.otf,ItalicFont=NewCM10-Italic.otf]\setmathfont{NewCMMath-Regular.otf}",
}  # fmt: skip
"""The preamble of each choice of fonts."""
LUATEX: Final = frozenset({"latinmodern-math", "stix-two-math", "xits-math", "newcm-math"})

_HEAD: Final = r"""\documentclass[11pt]{article}
%(omit)s
\usepackage[a4paper,margin=2.2cm]{geometry}
\usepackage{amsmath%(ams)s}
%(fonts)s
\usepackage[version=4]{mhchem}
\usepackage{multicol,xcolor,enumitem}
\setlength{\parindent}{0pt}\setlength{\parskip}{5pt}\emergencystretch=2em
\providecommand{\lVert}{\|}
\begin{document}
"""
_BREAKING: Final = "\\relpenalty=30 \\binoppenalty=60 \\emergencystretch=1em\n"
"""By default TeX breaks few formulas; where it breaks them stays the same."""
_OMIT_PDFTEX: Final = r"\pdfinfoomitdate=1 \pdftrailerid{}\pdfsuppressptexinfo=-1"
_OMIT_LUATEX: Final = r"\pdfvariable suppressoptionalinfo 1023 "


def write_tex(paper: Paper, fonts: str, *, colour: bool) -> str:
    """The source of a paper; in colour each formula has one of its own."""
    lua = fonts in LUATEX
    ams = "" if lua or fonts in {"stix2", "newtx"} else ",amssymb"
    head = _HEAD % {
        "omit": _OMIT_LUATEX if lua else _OMIT_PDFTEX,
        "fonts": FONTS[fonts],
        "ams": ams,
    }
    serials = {part.id: serial for serial, part in enumerate(paper.list_formulas(), 1)}
    known = serials if colour else {}
    if paper.is_justified:
        head += _BREAKING
    bodies = []
    for layout, blocks in paper.sections:
        body = "".join(_write_block(block, known, layout) for block in blocks)
        ragged = "" if paper.is_justified else "\\raggedright"
        columns = f"\\begin{{multicols}}{{2}}{ragged}\n%s\n\\end{{multicols}}"
        bodies.append(columns % body if layout == "two" else body)
    return head + "\n\\clearpage\n".join(bodies) + "\n\\end{document}\n"


def _write_block(block: Block, serials: dict[str, int], layout: str) -> str:
    label = rf"\textbf{{{block.label}}} " if block.label else ""
    if block.kind == "heading":
        return rf"\textbf{{\large {block.parts[0]}}}\par" + "\n"
    if block.kind == "display":
        (formula,) = block.parts
        assert isinstance(formula, Printed)
        number = rf"\tag{{{formula.number}}}" if formula.number else ""
        latex = _colour(formula.latex, formula, serials)
        return rf"\begin{{equation*}}{latex}{number}\end{{equation*}}" + "\n"
    texts = [
        f"${_colour(part.latex, part, serials)}$" if isinstance(part, Printed) else escape(part)
        for part in block.parts
    ]
    if block.kind == "choices":
        per_row = count_choices(block, layout)
        cells = [
            rf"\makebox[{0.95 / per_row:.2f}\linewidth][l]{{({letter}) {text}}}"
            for letter, text in zip("ABCD", texts, strict=True)
        ]
        rows = [" ".join(cells[i : i + per_row]) for i in range(0, 4, per_row)]
        return "\\par\n".join(rows) + "\\par\n"
    ending = "\n" if block.goes_on else "\\par\n"
    return label + "".join(texts) + ending


def count_choices(block: Block, layout: str) -> int:
    """How many choices of a block stand beside each other."""
    longest = max(estimate_width(part) for part in block.parts if isinstance(part, Printed))
    if layout == "two":
        return 2 if longest < 20 else 1
    return 4 if longest < 24 else 2 if longest < 50 else 1


def estimate_width(formula: Printed) -> int:
    """The length of a formula's source; a reaction counts half more."""
    return len(formula.latex) * (3 if "->" in formula.latex or "<=>" in formula.latex else 2) // 2


def _colour(latex: str, formula: Printed, serials: dict[str, int]) -> str:
    if formula.id not in serials:
        return latex
    red, green, blue = read_colour(serials[formula.id])
    return rf"\mathcolor[RGB]{{{red},{green},{blue}}}{{{latex}}}"


def read_colour(serial: int) -> tuple[int, int, int]:
    """The colour of a formula by its number; none is black."""
    return 40 + serial % 16 * 12, 40 + serial // 16 % 16 * 12, 100


def escape(text: str) -> str:
    return text.replace("%", r"\%").replace("$", r"\$").replace("&", r"\&")


def run_tex(source: str, fonts: str, folder: Path) -> Path:
    """Typeset a source twice, so that its parts know each other."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "paper.tex").write_text(source, "utf-8")
    engine = "lualatex" if fonts in LUATEX else "pdflatex"
    result = subprocess.run(
        [engine, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=folder, env=os.environ | {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"},
        capture_output=True, check=False,
    )  # fmt: skip
    if result.returncode:
        raise RuntimeError(result.stdout.decode("utf-8", "replace")[-3000:])
    return folder / "paper.pdf"
