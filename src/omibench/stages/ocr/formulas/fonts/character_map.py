"""Check of the character map of an embedded font before its characters are listed.

A map of formats 8, 12 and 13 has groups of consecutive characters. A group of 12 bytes can name
four thousand million characters, of which a listing needs gigabytes.
Source: OpenType 1.9, chapters otff and cmap.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import islice
from typing import Any

MOST_CHARACTERS = 131_072
"""Maximum number of characters of a map, and of groups: a font has at most 65,536 glyphs."""
_SFNT = b"\0\1\0\0", b"OTTO", b"true"
_WITHOUT_MAP = b"%!", b"\x80\1", b"\1\0"
"""First bytes of Type 1 and CFF programs: their characters are those of their glyph names."""
_GROUPS = {8: 8204, 12: 12, 13: 12}
"""Offset of the number of groups in a map, by its format."""


def has_bounded_map(program: bytes | None) -> bool:
    """Return whether the characters of a font program can be listed in bounded time and memory.

    Args:
        program: Font program.

    Returns:
        False also for a kind of program that PDF does not embed, such as a collection of fonts.
    """
    if not program:
        return False
    if program[:4] not in _SFNT:
        return program.startswith(_WITHOUT_MAP)
    sizes = [*islice(_list_sizes(program), MOST_CHARACTERS + 1)]
    return len(sizes) <= MOST_CHARACTERS and sum(sizes) <= MOST_CHARACTERS


def _list_sizes(program: bytes) -> Iterator[int]:
    """Yield the number of characters of each group, up to the end of the program."""
    for start, length in _list_maps(program):
        table = program[start : start + length]
        for offset in _list_offsets(table):
            for first, last, _ in _list_groups(table, offset):
                yield max(0, last - first + 1)


def _list_maps(program: bytes) -> Iterator[tuple[int, int]]:
    """Yield the place of each character map; a directory can have several."""
    for tag, _, start, length in _read_rows(program, 12, ">4sLLL", _count(program, 4, ">H")):
        if tag == b"cmap":
            yield start, length


def _list_offsets(table: bytes) -> set[int]:
    return {row[2] for row in _read_rows(table, 4, ">HHL", _count(table, 2, ">H"))}


def _list_groups(table: bytes, offset: int) -> Iterator[tuple[Any, ...]]:
    place = _GROUPS.get(_count(table, offset, ">H"))
    if place is not None:
        count = _count(table, offset + place, ">L")
        yield from _read_rows(table, offset + place + 4, ">LLL", count)


def _count(table: bytes, at: int, form: str) -> int:
    """Return a number of a table, or 0 if it is beyond its end."""
    fits = at + struct.calcsize(form) <= len(table)
    return int(struct.unpack_from(form, table, at)[0]) if fits else 0


def _read_rows(table: bytes, at: int, form: str, count: int) -> Iterator[tuple[Any, ...]]:
    size = struct.calcsize(form)
    for k in range(min(count, max(0, len(table) - at) // size)):
        yield struct.unpack_from(form, table, at + k * size)
