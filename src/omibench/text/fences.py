"""Fenced material: untrusted text shown to a judge in sections that it cannot close.

Every section is between lines with the same nonce. The nonce is a hash of all sections, so that
equal material gives an equal conversation (and key). It occurs in none of them, so that no text
can contain a line that opens or closes a section.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

_DIGITS = 16
_OPENING = re.compile(r"^<<<(?!END )([A-Z][A-Z ]*) ([0-9a-f]{16})>>>$", re.MULTILINE)


class Section(NamedTuple):
    """One piece of material under a name in capitals.

    `inserts` are non-text items, such as pictures, each with its position: the number of
    characters of `text` before it, in ascending order.
    """

    name: str
    text: str
    inserts: tuple[tuple[int, Any], ...] = ()


def fence_sections(sections: Sequence[Section]) -> str:
    """Return the sections in order, each between an opening and a closing line.

    Inserts are omitted.
    """
    return "".join(piece for piece in fence_pieces(sections) if isinstance(piece, str))


def fence_pieces(sections: Sequence[Section]) -> Iterator[Any]:
    """Return the fenced sections as runs of text with the inserts between them, in order."""
    run = ""
    for number, pieces in enumerate(fence_each(sections)):
        run += "\n\n" if number else ""
        for piece in pieces:
            if isinstance(piece, str):
                run += piece
                continue
            yield run
            yield piece
            run = ""
    yield run


def fence_each(sections: Sequence[Section]) -> list[list[Any]]:
    """Yield the texts and inserts of the sections, with one nonce that none of them contains."""
    nonce = _nonce([section.text for section in sections])
    return [
        [
            f"<<<{section.name} {nonce}>>>\n",
            *list_pieces(section),
            f"\n<<<END {section.name} {nonce}>>>",
        ]
        for section in sections
    ]


def list_pieces(section: Section) -> list[Any]:
    """Yield the text of a section with its inserts in place."""
    pieces: list[Any] = []
    start = 0
    for place, insert in section.inserts:
        pieces += [section.text[start:place], insert]
        start = place
    return [*pieces, section.text[start:]]


def read_fenced(text: str) -> dict[str, str]:
    """Return the sections of a text by name: those of the first nonce that opens one."""
    first = _OPENING.search(text)
    if first is None:
        return {}
    nonce = first.group(2)
    sections: dict[str, str] = {}
    for opening in _OPENING.finditer(text, first.start()):
        end = text.find(f"\n<<<END {opening.group(1)} {nonce}>>>", opening.end())
        if opening.group(2) == nonce and end >= 0:
            sections.setdefault(opening.group(1), text[opening.end() + 1 : end])
    return sections


def _nonce(texts: Sequence[str]) -> str:
    """Return a hash of the texts that occurs in none of them; deterministic."""
    lengths = ",".join(str(len(text)) for text in texts)
    digest = f"{lengths}\0{chr(0).join(texts)}"
    while True:
        digest = hashlib.sha256(digest.encode("utf-8", "surrogatepass")).hexdigest()
        if not any(digest[:_DIGITS] in text for text in texts):
            return digest[:_DIGITS]
