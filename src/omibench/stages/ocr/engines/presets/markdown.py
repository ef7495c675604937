r"""Convert Markdown of document readers to the lines of a page.

Formulas are put between single dollar signs, whatever their delimiters were (`\(...\)`, `\[...\]`,
`$$...$$`); marks of headings and emphasis are removed, and tables become rows with ` | ` between
cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from omibench.latex import find_formulas
from omibench.stages.ocr.engines.presets.tables import BETWEEN_CELLS, read_html_table

MOST_LINES: Final = 1000
MOST_CHARACTERS: Final = 20_000
"""The maximum length of a line."""
_HEADING: Final = re.compile(r"^#{1,6}\s+(?=\S)")
_EMPHASIS: Final = re.compile(r"(?<![\w*])(\*\*\*|\*\*|\*|__)(?=\S)([^*_\n]+?)(?<=\S)\1(?![\w*])")
_ESCAPED: Final = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")
_TABLE: Final = re.compile(r"<table\b.*?(?:</table>|\Z)", re.DOTALL | re.IGNORECASE)
_RULE: Final = re.compile(r"^\s*\|?[\s:|-]*-{3,}[\s:|-]*\|?\s*$")
_FENCE: Final = re.compile(r"^\s*(?:```\w*|~~~\w*)\s*$")
_DISPLAY: Final = re.compile(r"\\\[|\$\$")


def list_lines(markdown: str) -> list[str]:
    """Return the lines of a page in Markdown, with empty lines between paragraphs.

    Args:
        markdown: Reply of a reader, without front matter.

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
    """Return a line of Markdown as printed text, with formulas between single dollar signs."""
    text = _HEADING.sub("", line.strip())
    if text.startswith("|") and text.endswith("|") and len(text) > 1:
        text = BETWEEN_CELLS.join(cell.strip() for cell in text[1:-1].split("|"))
    return "".join(_read_pieces(text)).strip()


def wrap_formula(latex: str) -> str:
    """Return a formula between single dollar signs, without its original delimiters."""
    spans = find_formulas(latex.strip())
    source = latex.strip()
    if len(spans) == 1 and (spans[0].start, spans[0].end) == (0, len(source)):
        source = spans[0].latex
    return _put_in_dollars(source)


def _join_display_rows(text: str) -> str:
    """Return the text with the source of each displayed formula joined in one row."""
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
        yield _put_in_dollars(span.latex)
        end = span.end
    yield _read_prose(text[end:])


def _put_in_dollars(latex: str) -> str:
    source = " ".join(latex.split())
    return f"${source}$" if source else ""


def _read_prose(text: str) -> str:
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub(r"\2", text))
