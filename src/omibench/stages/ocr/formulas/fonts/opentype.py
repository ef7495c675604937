"""Characters of glyphs from the tables of an embedded OpenType font.

Word 2010 maps nearly every glyph of Cambria Math to a space, yet embeds the font with its tables:
the character map identifies the base glyphs, `GSUB` leads from script forms back to them, and
`MATH` from taller and wider forms and from the pieces of assembled ones.
Source: OpenType 1.9, chapters cmap, GSUB and MATH.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from omibench.stages.ocr.formulas.fonts.character_map import has_bounded_map

if TYPE_CHECKING:
    import pymupdf

_FEATURES = frozenset({b"ssty", b"dtls", b"flac"})
"""Forms for scripts, letters without dots for accents, flat accents for capitals."""
_SINGLE, _ALTERNATE, _EXTENSION = 1, 3, 7
_MOST_GLYPHS = 65_536
_MOST_SUBTABLES = 16
"""Maximum number of subtables of `GSUB` that are read; a mathematical font has fewer than 5."""
_ROUNDS = 2
"""Maximum chain of forms: a tall bracket can have a script form."""
_PIECES = {
    "(": "⎝⎜⎛", ")": "⎠⎟⎞", "[": "⎣⎢⎡", "]": "⎦⎥⎤", "{": "⎩⎪⎨⎪⎧", "}": "⎭⎪⎬⎪⎫",
    "⌊": "⎣⎢", "⌋": "⎦⎥", "⌈": "⎢⎡", "⌉": "⎥⎤", "∫": "⌡⎮⌠", "√": "⎷",
}  # fmt: skip
"""Unicode characters for the pieces of a tall form, from the foot to the head."""
_ALPHABETS = tuple(
    range(start, start + count)
    for start, count in (
        (0x30, 10), (0x41, 26), (0x61, 26), (0x391, 17), (0x3B1, 25), (0x1D434, 26), (0x1D44E, 26),
        (0x1D468, 26), (0x1D482, 26), (0x1D400, 26), (0x1D41A, 26), (0x1D6E2, 25), (0x1D6FC, 25),
    )
)  # fmt: skip
"""Characters whose glyphs are numbered in their order."""
_MOVED = {"\U0001d455": "ℎ"}
"""The small italic h, which predates Unicode's italic alphabet."""


def read_characters(font: pymupdf.Font) -> dict[int, str]:
    """Return the character of each glyph of an embedded font.

    Args:
        font: Font opened from its program.

    Returns:
        Unicode characters by glyph number, without glyphs that no table reaches; broken tables are
        used up to the error. Empty if the character map names more characters than a font has.
    """
    if not has_bounded_map(font.buffer):
        return {}
    characters: dict[int, str] = {}
    for point in sorted(font.valid_codepoints(), reverse=True):
        glyph = font.has_glyph(point)
        if point >= 0x20 and glyph:
            characters[glyph] = chr(point)
    characters = _complete_characters(characters) | characters
    tables = _tables(font.buffer)
    forms = [*_safely(_substitutions(tables.get(b"GSUB", b"")))]
    variants = [*_safely(_math_forms(tables.get(b"MATH", b"")))]
    for _ in range(_ROUNDS):
        for base, form, place in [*forms, *variants]:
            character = characters.get(base)
            if character is None or form in characters:
                continue
            piece = _piece(character, place) if place else character
            if piece:
                characters[form] = piece
    return characters


_Form = tuple[int, int, tuple[int, int] | None]
"""Base glyph, a form of it, and for a piece its place from the foot and the number of pieces."""


def _complete_characters(characters: dict[int, str]) -> dict[int, str]:
    """Return the letters of alphabets that a subset's character map keeps in part.

    At least two letters must be as far apart as in Unicode, and no pair may contradict this.
    """
    glyphs = {ord(character): glyph for glyph, character in characters.items()}
    letters: dict[int, str] = {}
    for alphabet in _ALPHABETS:
        steps = [glyphs[point] - point for point in alphabet if point in glyphs]
        if len(steps) > 1 and len(set(steps)) == 1:
            letters |= {
                point + steps[0]: _MOVED.get(chr(point), chr(point))
                for point in alphabet
                if point + steps[0] > 0
            }
    return letters


def _piece(character: str, place: tuple[int, int]) -> str | None:
    pieces = _PIECES.get(character, "")
    return pieces[place[0]] if len(pieces) == place[1] else None


def _safely(forms: Iterator[_Form]) -> Iterator[_Form]:
    """Yield the forms up to the first error of a broken table."""
    try:
        for k, form in enumerate(forms):
            if k >= _MOST_GLYPHS:
                return
            yield form
    except struct.error:
        return


def _tables(program: bytes | None) -> dict[bytes, bytes]:
    """Return the tables of a font program by tag; empty if it is not OpenType."""
    if not program or program[:4] not in (b"\0\1\0\0", b"OTTO", b"true"):
        return {}
    count = struct.unpack_from(">H", program, 4)[0] if len(program) >= 12 else 0
    tables = {}
    for k in range(count):
        if 28 + 16 * k > len(program):
            break
        tag, _, start, length = struct.unpack_from(">4sLLL", program, 12 + 16 * k)
        tables[tag] = program[start : start + length]
    return tables


def _words(table: bytes, at: int, count: int) -> tuple[int, ...]:
    return struct.unpack_from(f">{count}H", table, at)


def _array(table: bytes, at: int) -> tuple[int, ...]:
    """Return a list of 16-bit numbers that is preceded by its length."""
    return _words(table, at + 2, _words(table, at, 1)[0])


def _read_coverage(table: bytes, at: int) -> list[int]:
    """Return the glyphs of a coverage table in its order."""
    (form,) = _words(table, at, 1)
    if form == 1:
        return list(_array(table, at + 2))
    glyphs: list[int] = []
    for k in range(_words(table, at + 2, 1)[0]):
        first, last, _ = _words(table, at + 4 + 6 * k, 3)
        glyphs += range(first, last + 1)
        if len(glyphs) > _MOST_GLYPHS:
            break
    return glyphs


def _substitutions(table: bytes) -> Iterator[_Form]:
    """Yield base glyph and form of every substitution in the mathematical features."""
    _, _, _, features, lookups = _words(table, 0, 5)
    wanted: dict[int, None] = {}
    for k in range(_words(table, features, 1)[0]):
        tag, offset = struct.unpack_from(">4sH", table, features + 2 + 6 * k)
        if tag in _FEATURES:
            wanted |= dict.fromkeys(_array(table, features + offset + 2))
    offsets = _array(table, lookups)
    starts = [lookups + offsets[index] for index in wanted if index < len(offsets)]
    subtables = ((at, offset) for at in starts for offset in _array(table, at + 4))
    for at, offset in islice(subtables, _MOST_SUBTABLES):
        (kind,) = _words(table, at, 1)
        yield from _substitution(table, at + offset, kind)


def _substitution(table: bytes, at: int, kind: int) -> Iterator[_Form]:
    if kind == _EXTENSION:
        _, kind, offset = struct.unpack_from(">HHL", table, at)
        at += offset
    if kind not in (_SINGLE, _ALTERNATE):
        return
    form, coverage, third = _words(table, at, 3)
    bases = _read_coverage(table, at + coverage)
    if kind == _SINGLE and form == 1:
        yield from ((base, (base + third) % _MOST_GLYPHS, None) for base in bases)
    elif kind == _SINGLE:
        yield from ((b, f, None) for b, f in zip(bases, _array(table, at + 4), strict=False))
    else:
        for base, offset in zip(bases, _array(table, at + 4), strict=False):
            yield from ((base, other, None) for other in _array(table, at + offset))


def _math_forms(table: bytes) -> Iterator[_Form]:
    """Yield base glyph and form of every taller and wider form, and of the pieces of tall ones."""
    (variants,) = _words(table, 8, 1)
    _, vertical, horizontal, tall, wide = _words(table, variants, 5)
    offsets = _words(table, variants + 10, tall + wide)
    for coverage, part in ((vertical, offsets[:tall]), (horizontal, offsets[tall:])):
        bases = _read_coverage(table, variants + coverage) if coverage else []
        for base, offset in zip(bases, part, strict=False):
            at = variants + offset
            assembly, count = _words(table, at, 2)
            numbers = _words(table, at + 4, 2 * count)
            yield from ((base, form, None) for form in numbers[::2])
            if assembly and coverage == vertical:
                (pieces,) = _words(table, at + assembly + 4, 1)
                for k in range(pieces):
                    (glyph,) = _words(table, at + assembly + 6 + 10 * k, 1)
                    yield base, glyph, (k, pieces)
