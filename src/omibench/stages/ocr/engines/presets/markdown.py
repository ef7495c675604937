r"""Markdown as document readers write it, as the lines that a page shows.

Formulas come out between single dollar signs, whatever stood around them (`\(...\)`, `\[...\]`,
`$$...$$`); marks of headings and of emphasis go, and tables are rows with ` | ` between cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from omibench.latex import FormulaSpan, find_formulas
from omibench.stages.ocr.engines.presets.tables import BETWEEN_CELLS, read_html_table

MOST_LINES: Final = 1000
MOST_CHARACTERS: Final = 20_000
"""Of one line."""
_HEADING: Final = re.compile(r"^#{1,6}\s+(?=\S)")
_EMPHASIS: Final = re.compile(r"(?<![\w*])(\*\*\*|\*\*|\*|__)(?=\S)([^*_\n]+?)(?<=\S)\1(?![\w*])")
_ESCAPED: Final = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")
_TABLE: Final = re.compile(r"<table\b.*?(?:</table>|\Z)", re.DOTALL | re.IGNORECASE)
_RULE: Final = re.compile(r"^\s*\|?[\s:|-]*-{3,}[\s:|-]*\|?\s*$")
_FENCE: Final = re.compile(r"^\s*(?:```\w*|~~~\w*)\s*$")
_DISPLAY: Final = re.compile(r"\\\[|\$\$")


def list_lines(markdown: str) -> list[str]:
    """The lines of a page in Markdown, empty ones where a paragraph ends.

    Args:
        markdown: A reader's reply, without front matter.

    Returns:
        At most 1,000 lines of at most 20,000 characters each.
    """
    text = _TABLE.sub(lambda table: "\n".join(["", *read_html_table(table[0]), ""]), markdown)
    text = _join_display_rows(text)
    lines: list[str] = []
    for line in text.splitlines():
        if len(lines) == MOST_LINES:
            break
        if not _FENCE.match(line) and not _RULE.match(line):
            lines.append(read_line(line)[:MOST_CHARACTERS])
    return lines


def read_line(line: str) -> str:
    """A line of Markdown as it is printed, its formulas between single dollar signs."""
    text = _HEADING.sub("", line.strip())
    if text.startswith("|") and text.endswith("|") and len(text) > 1:
        text = BETWEEN_CELLS.join(cell.strip() for cell in text[1:-1].split("|"))
    return "".join(_read_pieces(text)).strip()


def wrap_formula(latex: str) -> str:
    """A formula between single dollar signs, without the delimiters that it came with."""
    spans = find_formulas(latex.strip())
    source = latex.strip()
    if len(spans) == 1 and (spans[0].start, spans[0].end) == (0, len(source)):
        source = spans[0].latex
    source = " ".join(source.split())
    return f"${source}$" if source else ""


def _join_display_rows(text: str) -> str:
    """The text with the source of each displayed formula in one row, however many it took."""
    pieces: list[str] = []
    position = 0
    while (opening := _DISPLAY.search(text, position)) is not None:
        closing = "$$" if opening[0] == "$$" else r"\]"
        end = text.find(closing, opening.end())
        if end < 0:
            break
        source = " ".join(text[opening.end() : end].split())
        pieces += [text[position : opening.end()], source, closing]
        position = end + len(closing)
    return "".join([*pieces, text[position:]])


def _read_pieces(text: str) -> Iterator[str]:
    end = 0
    for span in find_formulas(text):
        yield _read_prose(text[end : span.start])
        yield _read_formula(span)
        end = span.end
    yield _read_prose(text[end:])


def _read_formula(span: FormulaSpan) -> str:
    source = " ".join(span.latex.split())
    return f"${source}$" if source else ""


def _read_prose(text: str) -> str:
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub(r"\2", text))
