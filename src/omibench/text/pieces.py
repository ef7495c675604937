"""Splitting of a text at commas, semicolons and words such as `and`, outside brackets."""

from __future__ import annotations

import re

MOST_PIECES = 64
_WORDS = dict.fromkeys(("oder", "ou", "или", "或", "或者"), "or") | dict.fromkeys(
    ("und", "et", "и", "和"), "and"
)
_MARK = re.compile(
    r"[\[({]|[\])}]|;|；|,|，|、|\n|\s(?:and|or|&|und|oder|et|ou|и|или)\s|或者?|和|\\to\b|->|\s-\s|\\[{}]"
)


def split_outside_brackets(text: str, marks: set[str]) -> list[str]:
    """Return pieces between `marks` outside brackets; grouped digits and decimals stay whole."""
    pieces: list[str] = []
    depth = start = 0
    for match in _MARK.finditer(text):
        mark = match.group().strip(" \t") or "\n"
        mark = _WORDS.get(mark, mark)
        if mark in ("\\{", "\\}") or mark in "[({":
            depth += -1 if mark == "\\}" else 1
        elif mark in "])}":
            depth = max(depth - 1, 0)
        elif depth == 0 and mark in marks and not _inside_number(text, match):
            pieces.append(text[start : match.start()])
            start = match.end()
            if len(pieces) >= MOST_PIECES:
                break
    pieces.append(text[start:])
    trimmed = [trim_piece(piece) for piece in pieces]
    return [piece for piece in trimmed if piece]


def trim_piece(text: str) -> str:
    """Strip the marks around a piece, including an unpaired dollar sign."""
    return text.strip(" \n\t;,.；，$") if text.count("$") % 2 else text.strip(" \n\t;,.；，")


def _inside_number(text: str, mark: re.Match[str]) -> bool:
    if mark.group() != ",":
        return False
    before, after = text[: mark.start()], text[mark.end() : mark.end() + 4]
    return bool(
        re.search(r"(?<!\d)\d{1,3}(?:,\d{3})*$", before[-24:]) and re.match(r"\d{3}(?!\d)", after)
    )
