# ruff: noqa: E501 (sources of Word stand on lines of their own)
"""Papers as documents of Word, whose formulas LibreOffice makes into objects of its own."""

from __future__ import annotations

import re
import subprocess
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from tests.glyphtex.typeset.make.documents import Block, Paper, Printed
from tests.glyphtex.typeset.make.tex import count_choices
from tests.glyphtex.typeset.make.tree import (
    BIG,
    FormulaReader,
    Node,
    merge_digits,
    pair_brackets,
)
from tests.glyphtex.typeset.make.typst_text import SIGNS

FONTS: Final = {"liberation": "Liberation Serif", "dejavu": "DejaVu Serif"}
"""The type of the text; formulas are set in Liberation Serif and OpenSymbol by default."""
_CHARACTERS: Final = {r"\{": "{", r"\}": "}"}
_ACCENTS: Final = {
    r"\vec": "\u20d7", r"\hat": "\u0302", r"\dot": "\u0307", r"\ddot": "\u0308", r"\tilde": "\u0303",
    r"\overrightarrow": "\u20d7",
}  # fmt: skip
_BARS: Final = {r"\bar": "top", r"\overline": "top", r"\underline": "bot"}
_CALLIGRAPHIC: Final = {"E": "ℰ", "H": "ℋ", "L": "ℒ", "P": "𝒫", "R": "ℛ"}
_BLACKBOARD: Final = {"R": "ℝ", "N": "ℕ", "Z": "ℤ", "Q": "ℚ", "C": "ℂ"}
_OBJECT: Final = re.compile(r'(<annotation encoding="StarMath 5.0">)([^<]*)')
_SIGNED_FRACTION: Final = re.compile(r"(^|= )-\\frac{")
_NAMESPACES: Final = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def can_set(latex: str) -> bool:
    """Whether LibreOffice sets a formula as it is meant."""
    try:
        write_formula(latex)
    except ValueError:
        return False
    return True


def write_formula(latex: str) -> str:
    """A formula in Office Math Markup.

    Raises:
        ValueError: It holds what LibreOffice would read in another way.
    """
    return f"<m:oMath>{_write(FormulaReader(latex).read())}</m:oMath>"


def as_printed(latex: str) -> str:
    """What LibreOffice prints of a formula: it draws a sign before a fraction above its bar.

    Its import writes `- {a} over {b}`, which it then reads as `{- a} over {b}`.
    """
    return _SIGNED_FRACTION.sub(r"\1\\frac{-", latex)


def _run(text: str) -> str:
    return f'<m:r><m:t xml:space="preserve">{escape(text)}</m:t></m:r>'


def _write_upright(text: str) -> str:
    return f'<m:r><m:rPr><m:nor/></m:rPr><m:t xml:space="preserve">{escape(text)}</m:t></m:r>'


def _element(name: str, **parts: str) -> str:
    inner = "".join(f"<m:{key}>{value}</m:{key}>" for key, value in parts.items())
    return f"<m:{name}>{inner}</m:{name}>"


def _write(node: Node | None) -> str:
    return "" if node is None else _WRITERS[node.kind](node)


def _write_row(node: Node) -> str:
    last = node.parts[-1] if node.parts else None
    if last and last.kind == "sign" and last.text in {"+", "-"}:
        # LibreOffice asks for what stands behind such a sign, unless it is text.
        signs = [part.text for part in node.parts if part]
        return _write_upright("".join(signs).replace("-", "−"))
    return _write_nodes(pair_brackets(merge_digits(node.parts)))


def _write_nodes(nodes: Sequence[Node]) -> str:
    if not nodes:
        return ""
    first, rest = nodes[0], nodes[1:]
    base, below, above = first.parts if first.kind == "script" else (first, None, None)
    if base is not None and base.kind == "sign" and base.text in BIG:
        return _write_big(base.text, below, above, rest)
    if first.kind == "script" and base == Node("row"):
        if not (rest and below and above):
            raise ValueError("LibreOffice reads no left script alone")
        left = _element("sPre", sub=_write(below), sup=_write(above), e=_write(rest[0]))
        return left + _write_nodes(rest[1:])
    if base is not None and base.kind == "text" and base.text in {"lim", "max"} and below:
        limit = _element("limLow", e=_write_upright(base.text), lim=_write(below))
        return limit + _write_nodes(rest)
    return _write(first) + _write_nodes(rest)


def _write_big(sign: str, below: Node | None, above: Node | None, rest: Sequence[Node]) -> str:
    hide = "".join(
        f'<m:{name}Hide m:val="1"/>' for name, part in (("sub", below), ("sup", above)) if not part
    )
    if sign == r"\bigcup":
        raise ValueError("LibreOffice reads no large union")
    place = "subSup" if sign in {r"\int", r"\oint"} else "undOvr"
    properties = (
        f'<m:naryPr><m:chr m:val="{SIGNS[sign]}"/><m:limLoc m:val="{place}"/>{hide}</m:naryPr>'
    )
    parts = f"<m:sub>{_write(below)}</m:sub><m:sup>{_write(above)}</m:sup>"
    return f"<m:nary>{properties}{parts}<m:e>{_write_nodes(rest)}</m:e></m:nary>"


def _write_sign(node: Node) -> str:
    sign = _CHARACTERS.get(node.text) or SIGNS.get(node.text, node.text)
    if sign.startswith("\\"):
        raise ValueError(f"no sign for {node.text}")
    return _run(sign)


def _write_script(node: Node) -> str:
    base, below, above = node.parts
    if below and above:
        return _element("sSubSup", e=_write(base), sub=_write(below), sup=_write(above))
    if below:
        return _element("sSub", e=_write(base), sub=_write(below))
    return _element("sSup", e=_write(base), sup=_write(above))


def _write_binomial(node: Node) -> str:
    parts = f"<m:num>{_write(node.parts[0])}</m:num><m:den>{_write(node.parts[1])}</m:den>"
    return f'<m:d><m:e><m:f><m:fPr><m:type m:val="noBar"/></m:fPr>{parts}</m:f></m:e></m:d>'


def _write_root(node: Node) -> str:
    radicand, index = node.parts
    hide = "" if index else '<m:radPr><m:degHide m:val="1"/></m:radPr>'
    return f"<m:rad>{hide}<m:deg>{_write(index)}</m:deg><m:e>{_write(radicand)}</m:e></m:rad>"


def _write_accent(node: Node) -> str:
    inner = f"<m:e>{_write(node.parts[0])}</m:e>"
    if node.text in _BARS:
        return f'<m:bar><m:barPr><m:pos m:val="{_BARS[node.text]}"/></m:barPr>{inner}</m:bar>'
    return f'<m:acc><m:accPr><m:chr m:val="{_ACCENTS[node.text]}"/></m:accPr>{inner}</m:acc>'


def _write_font(node: Node) -> str:
    letter = node.parts[0]
    while letter and letter.kind == "row" and len(letter.parts) == 1:
        letter = letter.parts[0]
    if letter is None or letter.kind != "sign":
        raise ValueError(f"{node.text} of more than a letter")
    if node.text == r"\mathbf":
        raise ValueError("LibreOffice reads no bold letters")
    table = _CALLIGRAPHIC if node.text == r"\mathcal" else _BLACKBOARD
    return _run(table[letter.text])


def _fence(opening: str, closing: str, inner: str) -> str:
    signs = f'<m:begChr m:val="{escape(opening)}"/><m:endChr m:val="{escape(closing)}"/>'
    return f"<m:d><m:dPr>{signs}</m:dPr><m:e>{inner}</m:e></m:d>"


def _write_fence(node: Node) -> str:
    signs = (_CHARACTERS.get(sign) or SIGNS.get(sign, sign) for sign in node.text.split())
    return _fence(*signs, _write(node.parts[0]))


def _write_table(node: Node) -> str:
    rows = [[_write(cell) for cell in row.parts] for row in node.parts if row]
    if node.text == "aligned":
        # LibreOffice asks for what stands left of a relation: a blank does.
        blank = _write_upright(" ")
        inner = "".join(f"<m:e>{row[0] or blank}{''.join(row[1:])}</m:e>" for row in rows)
        return f"<m:eqArr>{inner}</m:eqArr>"
    cells = "".join(f"<m:mr>{''.join(f'<m:e>{cell}</m:e>' for cell in row)}</m:mr>" for row in rows)
    matrix = f"<m:m>{cells}</m:m>"
    signs = {"pmatrix": "()", "bmatrix": "[]", "vmatrix": "||", "cases": "{"}[node.text]
    return _fence(signs[0], signs[1:], matrix)


_WRITERS: Final = {
    "row": _write_row,
    "sign": _write_sign,
    "text": lambda node: _write_upright(node.text),
    "space": lambda _: _run(" "),
    "script": _write_script,
    "fraction": lambda node: _element("f", num=_write(node.parts[0]), den=_write(node.parts[1])),
    "binomial": _write_binomial,
    "root": _write_root,
    "accent": _write_accent,
    "font": _write_font,
    "fence": _write_fence,
    "table": _write_table,
}


def write_word(
    paper: Paper, fonts: str, path: Path, write: Callable[[Printed], str] | None = None
) -> None:
    """Write a paper as a document of Word, by default with its formulas as objects.

    Args:
        paper: What is written.
        fonts: A key of `FONTS`.
        path: The new file.
        write: Gives the markup of a formula.
    """
    write = write or (lambda formula: write_formula(formula.latex))
    bodies = []
    for place, (layout, blocks) in enumerate(paper.sections):
        body = "".join(_write_block(block, layout, write) for block in blocks)
        columns = 2 if layout == "two" else 1
        last = place == len(paper.sections) - 1
        section = (
            f'<w:sectPr><w:type w:val="nextPage"/><w:pgSz w:w="11906" w:h="16838"/>'
            f'<w:pgMar w:top="1247" w:bottom="1247" w:left="1247" w:right="1247"/>'
            f'<w:cols w:num="{columns}" w:space="400"/></w:sectPr>'
        )
        bodies.append(body + (section if last else f"<w:p><w:pPr>{section}</w:pPr></w:p>"))
    face = FONTS[fonts]
    styles = (
        f"<w:styles {_NAMESPACES}><w:docDefaults><w:rPrDefault><w:rPr>"
        f'<w:rFonts w:ascii="{face}" w:hAnsi="{face}" w:cs="{face}"/><w:sz w:val="22"/>'
        f"</w:rPr></w:rPrDefault><w:pPrDefault><w:pPr>"
        f'<w:spacing w:after="80"/></w:pPr></w:pPrDefault></w:docDefaults></w:styles>'
    )
    document = f"<w:document {_NAMESPACES}><w:body>{''.join(bodies)}</w:body></w:document>"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in _PACKAGE.items():
            archive.writestr(name, text)
        archive.writestr("word/document.xml", document)
        archive.writestr("word/styles.xml", styles)


def _text(text: str, *, bold: bool = False) -> str:
    properties = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f'<w:r>{properties}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def _paragraph(inner: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def _write_block(block: Block, layout: str, write: Callable[[Printed], str]) -> str:
    label = _text(f"{block.label} ", bold=True) if block.label else ""
    if block.kind == "heading":
        return _paragraph(_text(str(block.parts[0]), bold=True))
    parts = [write(part) if isinstance(part, Printed) else _text(part) for part in block.parts]
    if block.kind == "display":
        (formula,) = block.parts
        number = formula.number if isinstance(formula, Printed) else None
        tabs = (
            '<w:tabs><w:tab w:val="center" w:pos="%d"/><w:tab w:val="right" w:pos="%d"/></w:tabs>'
        )
        width = 9400 if layout == "one" else 4500
        behind = f"<w:r><w:tab/></w:r>{_text(f'({number})')}" if number else ""
        inner = f"<w:r><w:tab/></w:r>{parts[0]}{behind}"
        return _paragraph(inner, tabs % (width // 2, width))
    if block.kind == "choices":
        return _write_choices(block, parts, layout)
    return _paragraph(label + "".join(parts))


def _write_choices(block: Block, parts: Sequence[str], layout: str) -> str:
    per_row = count_choices(block, layout)
    width = (9400 if layout == "one" else 4500) // per_row
    tabs = "".join(f'<w:tab w:val="left" w:pos="{width * n}"/>' for n in range(1, per_row))
    cells = [_text(f"({letter}) ") + part for letter, part in zip("ABCD", parts, strict=True)]
    rows = [cells[start : start + per_row] for start in range(0, 4, per_row)]
    return "".join(
        _paragraph("<w:r><w:tab/></w:r>".join(row), f"<w:tabs>{tabs}</w:tabs>") for row in rows
    )


_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_RELATION: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_TYPE}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{_TYPE}.styles+xml"/></Types>'
    ),
    "_rels/.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{_RELATION}/officeDocument" Target="word/document.xml"/>'
        "</Relationships>"
    ),
    "word/_rels/document.xml.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{_RELATION}/styles" Target="styles.xml"/></Relationships>'
    ),
}


def colour_formulas(source: str, colours: Sequence[tuple[int, int, int]]) -> str:
    """A flat document of LibreOffice with its formulas in these colours, in their order."""
    rest = iter(colours)

    def colour(match: re.Match[str]) -> str:
        red, green, blue = next(rest)
        return f"{match[1]}color rgb {red} {green} {blue} {{{match[2]}}}"

    coloured = _OBJECT.sub(colour, source)
    if next(rest, None) is not None:
        raise ValueError("the document has fewer formulas than the paper")
    return coloured


def convert(source: Path, ending: str, folder: Path) -> Path:
    """Convert a document with LibreOffice.

    Args:
        source: A document that LibreOffice reads.
        ending: Of the format, such as `pdf`.
        folder: Where the result is written, with a profile of LibreOffice of its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    profile = f"-env:UserInstallation=file://{folder.resolve()}/profile"
    subprocess.run(
        ["soffice", profile, "--headless", "--convert-to", ending, "--outdir", folder, source],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    return folder / f"{source.stem}.{ending}"
