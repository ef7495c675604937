"""Convert tables of document readers, in HTML or OTSL, to rows of text.

OTSL (Lysak et al., Optimized Table Tokenization for Table Structure Recognition, 2023) marks each
cell by a token: `<fcel>` is full, `<ecel>` empty, `<lcel>`, `<ucel>` and `<xcel>` belong to the
cell on their left, above them, or both; `<nl>` ends a row.
"""

from __future__ import annotations

import html
import re
from typing import Final

BETWEEN_CELLS: Final = " | "
_OTSL: Final = re.compile(r"<(fcel|ecel|lcel|ucel|xcel|ched|rhed|srow|nl)>")
_TAG: Final = re.compile(r"<(/?)([A-Za-z]{1,12})\b[^<>]*>")
_MOST_CELLS: Final = 20_000


def holds_otsl(text: str) -> bool:
    """Return whether a text marks cells by tokens of OTSL."""
    return _OTSL.search(text) is not None


def read_otsl(text: str) -> list[str]:
    """Return the rows of a table in OTSL, cells with ` | ` between them; merged cells appear once.

    Args:
        text: Tokens and the text of cells. Text before the first token is a separate row.
    """
    pieces = _OTSL.split(text, maxsplit=_MOST_CELLS)
    rows: list[list[str]] = [[pieces[0]], []] if pieces[0].strip() else [[]]
    for token, content in zip(pieces[1::2], pieces[2::2], strict=True):
        if token == "nl":  # noqa: S105 - the token that ends a row
            rows.append([content] if content.strip() else [])
        elif token not in ("lcel", "ucel", "xcel") or content.strip():
            rows[-1].append(content)
    return [row for row in map(_join_cells, rows) if row]


def read_html_table(text: str) -> list[str]:
    """Return the rows of all tables in a piece of HTML, cells with ` | ` between them.

    Args:
        text: HTML, closed or not. Text outside of cells is a separate row; tags only determine the
            cells.
    """
    rows: list[list[str]] = [[]]
    in_cell = False
    pieces = _TAG.split(text, maxsplit=3 * _MOST_CELLS)
    for end, name, content in zip(
        ["", *pieces[1::3]], ["", *pieces[2::3]], pieces[::3], strict=True
    ):
        if name.lower() in ("td", "th"):
            in_cell = not end
            if in_cell:
                rows[-1].append("")
        elif name.lower() in ("tr", "table"):
            rows.append([])
        if in_cell and rows[-1]:
            rows[-1][-1] += f" {content}" if name.lower() == "br" else content
        elif content.strip():
            rows += [[content], []]
    return [row for row in map(_join_cells, rows) if row]


def _join_cells(cells: list[str]) -> str:
    texts = [" ".join(html.unescape(cell).split()) for cell in cells]
    return BETWEEN_CELLS.join(texts) if any(texts) else ""
