"""Fonts embedded in a page: their character maps and glyph names, bounded when read."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from glyphtex.marks import Box

if TYPE_CHECKING:
    import pymupdf


# Check of the character map of an embedded font before its characters are listed.
#
# A map of formats 8, 12 and 13 has groups of consecutive characters. A group of 12 bytes can name
# four thousand million characters, of which a listing needs gigabytes.
# Source: OpenType 1.9, chapters otff and cmap.

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
    for tag, table in _list_tables(program):  # a directory can have several maps
        rows = _read_rows(table, 2, ">H", ">HHL") if tag == b"cmap" else ()
        for start in {offset for _, _, offset in rows}:
            head = _GROUPS.get(int.from_bytes(table[start : start + 2], "big"))
            groups = _read_rows(table, start + head, ">L", ">LLL") if head else ()
            yield from (max(0, last - first + 1) for first, last, _ in groups)


def _list_tables(program: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the tag and the content of each table of an OpenType program."""
    for tag, _, start, length in _read_rows(program, 4, ">H6x", ">4sLLL"):
        yield tag, program[start : start + length]


def _read_rows(table: bytes, at: int, head: str, form: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows after their number, up to the end of the table."""
    start, size = at + struct.calcsize(head), struct.calcsize(form)
    if start <= len(table):
        (count,) = struct.unpack_from(head, table, at)
        for k in range(min(count, (len(table) - start) // size)):
            yield struct.unpack_from(form, table, start + k * size)


# Characters of glyphs from the tables of an embedded OpenType font.
#
# Word 2010 maps nearly every glyph of Cambria Math to a space, yet embeds the font with its tables:
# the character map identifies the base glyphs, `GSUB` leads from script forms back to them, and
# `MATH` from taller and wider forms and from the pieces of assembled ones.
# Source: OpenType 1.9, chapters cmap, GSUB and MATH.

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
    tables = dict(_list_tables(font.buffer)) if font.buffer[:4] in _SFNT else {}
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


def _words(table: bytes, at: int, count: int) -> tuple[int, ...]:
    return struct.unpack_from(f">{count}H", table, at)


def _array(table: bytes, at: int) -> tuple[int, ...]:
    """Return a list of 16-bit numbers that is preceded by its length."""
    return _words(table, at + 2, _words(table, at, 1)[0])


def _read_coverage(table: bytes, at: int) -> Iterable[int]:
    """Return the glyphs of a coverage table in its order."""
    if _words(table, at, 1) == (1,):
        return _array(table, at + 2)
    ranges = (range(row[0], row[1] + 1) for row in _read_rows(table, at + 2, ">H", ">HHH"))
    return islice(chain.from_iterable(ranges), _MOST_GLYPHS)


def _substitutions(table: bytes) -> Iterator[_Form]:
    """Yield base glyph and form of every substitution in the mathematical features."""
    _, _, _, features, lookups = _words(table, 0, 5)
    wanted: dict[int, None] = {}
    for tag, offset in _read_rows(table, features, ">H", ">4sH"):
        if tag in _FEATURES:
            wanted |= dict.fromkeys(_array(table, features + offset + 2))
    offsets = _array(table, lookups)
    starts = [lookups + offsets[index] for index in wanted if index < len(offsets)]
    subtables = ((at, offset) for at in starts for offset in _array(table, at + 4))
    for at, offset in islice(subtables, _MOST_SUBTABLES):
        yield from _substitution(table, at + offset, _words(table, at, 1)[0])


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
        return
    for base, other in zip(bases, _array(table, at + 4), strict=False):
        forms = (other,) if kind == _SINGLE else _array(table, at + other)
        yield from ((base, form, None) for form in forms)


def _math_forms(table: bytes) -> Iterator[_Form]:
    """Yield base glyph and form of every taller and wider form, and of the pieces of tall ones."""
    (variants,) = _words(table, 8, 1)
    _, vertical, horizontal, tall, wide = _words(table, variants, 5)
    offsets = _words(table, variants + 10, tall + wide)
    for coverage, part in ((vertical, offsets[:tall]), (horizontal, offsets[tall:])):
        bases = _read_coverage(table, variants + coverage) if coverage else ()
        for base, offset in zip(bases, part, strict=False):
            at = variants + offset
            assembly, count = _words(table, at, 2)
            yield from ((base, form, None) for form in _words(table, at + 4, 2 * count)[::2])
            if assembly and coverage == vertical:
                parts = [*_read_rows(table, at + assembly + 4, ">H", ">H8x")]
                yield from ((base, glyph, (k, len(parts))) for k, (glyph,) in enumerate(parts))


# Letters of unnamed Type 3 fonts, identified by the hash of their outlines.
#
# Chrome embeds the fonts of MathJax 2 and 3 as unnamed Type 3 fonts: only their outlines
# distinguish `x` the variable from `x` in a word. The table was made by printing a page of these
# fonts' letters with Chrome (Skia/PDF) and hashing each procedure with `hash_outline`.

_LONGEST = 20_000
"""Maximum size of a letter's outline procedure, in bytes."""
_MOST = 1024
"""Maximum number of glyphs of a font that are examined."""
_DIGITS = 8
_POINTS = re.compile(rb"(-?[\d.]{1,20}) (-?[\d.]{1,20}) [mlcvy]\b")
_PROCEDURE = re.compile(r"/([^\s/<>\[\]]+)\s+(\d+)\s+0\s+R")
_DIFFERENCE = re.compile(r"/([^\s/<>\[\]]+)|(\d{1,9})")


def hash_outline(procedure: bytes, scale: float) -> str:
    """Return a hash of the points of a glyph's outline.

    Args:
        procedure: Content stream of a glyph of a Type 3 font.
        scale: Height of a unit under the font's matrix, times 1,000.

    Returns:
        Eight hexadecimal digits, the same for every size and direction of the axes; empty if the
        procedure draws no path.
    """
    points = []
    for x, y in _POINTS.findall(procedure):
        points.append(f"{round(float(x) * abs(scale))},{round(float(y) * scale)}")
    if not points:
        return ""
    return hashlib.sha256(" ".join(points).encode()).hexdigest()[:_DIGITS]


def read_letters(document: pymupdf.Document, xref: int) -> dict[int, str]:
    """Return the letters of a Type 3 font that are in the table.

    Args:
        document: PDF document.
        xref: Object number of the font.

    Returns:
        Characters of Unicode's mathematical alphabets by font code.
    """
    try:
        matrix = document.xref_get_key(xref, "FontMatrix")[1].strip("[] ").split()
        scale = 1000 * float(matrix[3])
        procedures = dict(_PROCEDURE.findall(document.xref_get_key(xref, "CharProcs")[1]))
        differences = document.xref_get_key(xref, "Encoding/Differences")[1]
    except (IndexError, ValueError, RuntimeError):
        return {}
    letters: dict[int, str] = {}
    known: dict[str, str | None] = {}
    code = 0
    for name, number in _DIFFERENCE.findall(differences)[: 2 * _MOST]:
        if number:
            code = int(number)
            continue
        if name not in known:
            known[name] = _find_letter(document, procedures.get(name), scale)
        if letter := known[name]:
            letters[code] = letter
        code += 1
    return letters


def _find_letter(document: pymupdf.Document, procedure: str | None, scale: float) -> str | None:
    try:
        outline = document.xref_stream(int(procedure)) if procedure else None
    except (RuntimeError, ValueError):
        return None
    if not outline or len(outline) > _LONGEST:
        return None
    try:
        return LETTERS.get(hash_outline(outline, scale))
    except (ValueError, OverflowError):  # `1.2.3`, or the font's matrix is not finite
        return None


_OUTLINES = {
    "𝐴𝐵𝐶𝐷𝐸𝐹𝐺𝐻𝐼𝐽𝐾𝐿𝑀𝑁𝑂𝑃𝑄𝑅𝑆𝑇𝑈𝑉𝑊𝑋𝑌𝑍𝑎𝑏𝑐𝑑𝑒𝑓𝑔ℎ𝑖𝑗𝑘𝑙𝑚𝑛𝑜𝑝𝑞𝑟𝑠𝑡𝑢𝑣𝑤𝑥𝑦𝑧": (
        "4d3edaed 4e8a7c8c 0dcf2b75 4688bdf1 a85e3241 50ff1159 b6ad6d1c fa9984bb 1cf8e1cd "
        "b379d55a 7d950819 adaa4cbc e43708b9 d01d9ea3 20a5a3d3 8db98d51 c9a44dac 2f80d948 "
        "ea9da441 37a38eca 98dde163 24bf5231 4ce07b1f 7d99ff7b e2b34da0 3b85b31b 5b680ee4 "
        "837b698f 282cb0e9 891f0796 79d3f31a 9afbf31d d4227e4e 559d3a19 fb54895f cbd5d02e "
        "97e187d1 62c0186f e6aa9d83 ca2a2792 05d781f3 86a5ebcd 80e880f8 328791a4 e2eb9e7a "
        "e63f750e bd07b17e a50949d1 2969683f 3f2dc0b3 fdb2371b 9d9f00e7"
    ),
    "𝑨𝑩𝑪𝑫𝑬𝑭𝑮𝑯𝑰𝑱𝑲𝑳𝑴𝑵𝑶𝑷𝑸𝑹𝑺𝑻𝑼𝑽𝑾𝑿𝒀𝒁𝒂𝒃𝒄𝒅𝒆𝒇𝒈𝒉𝒊𝒋𝒌𝒍𝒎𝒏𝒐𝒑𝒒𝒓𝒔𝒕𝒖𝒗𝒘𝒙𝒚𝒛": (
        "51e2b700 04cf36da 0ac33093 38bf3c32 7bee0440 9aa8200e e27b2d26 cca44cf8 6d865d06 "
        "4faceae4 e58be48b 6e2a1908 cbab72fc de80871f dbb86280 9ab10c2b e4d50154 ee724275 "
        "0d19506b 4d824731 75c5b56d 42d903c0 a2de06ef 003a11ab 4926743a 2518ab49 b25c009a "
        "d955a154 916257a0 089ffc7f ef840a6f 2fa0a2f9 3bea7404 ba9325ac 46412b06 8fbef9da "
        "6d1ebb89 f4ffeccc 17dfb61e d23c4533 abebbd9b 8634fa23 bef2610b 2a5e9883 82fccdd4 "
        "ff89bdb2 701ff31e 53a5d2ed a5f0b51c 8905ef03 5f6101b7 eb6b6f00"
    ),
    "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵": (
        "d2725a5c 6df075ad 17a5e201 185420ee 29b938d9 320b127e de4da468 d4acff5f 67971f20 "
        "3ef6c9b1 1d9e3b77 96037863 beb7700e f8414c09 9ef8b4f5 15f1d9d4 df728bc3 0eddd1b9 "
        "27b09f15 31ca1a53 e1a2b03f 69f615ca 05300868 861c15c5 50ffe85b d903e8a8"
    ),
    "𝔸𝔹ℂ𝔻𝔼𝔽𝔾ℍ𝕀𝕁𝕂𝕃𝕄ℕ𝕆ℙℚℝ𝕊𝕋𝕌𝕍𝕎𝕏𝕐ℤ": (
        "b82cb344 4d87ea62 d3e552d2 661ed216 01274b99 1c61ce4f 0e4a12c2 5077ac9c 99096572 "
        "aa5af99a a03c24cb d89cea0d 587841ac d772ceb2 443aa6d1 8ade3453 13ebf003 3bb1639a "
        "31097ecb c6b168bb abad9fe9 83ec5f5e 449cceaf 88ab84a7 7cdce10f ae129689"
    ),
    "𝔄𝔅ℭ𝔇𝔈𝔉𝔊ℌℑ𝔍𝔎𝔏𝔐𝔑𝔒𝔓𝔔ℜ𝔖𝔗𝔘𝔙𝔚𝔛𝔜ℨ𝔞𝔟𝔠𝔡𝔢𝔣𝔤𝔥𝔦𝔧𝔨𝔩𝔪𝔫𝔬𝔭𝔮𝔯𝔰𝔱𝔲𝔳𝔴𝔵𝔶𝔷": (
        "0c70bcf9 112de64e 61eb8225 545f45fa b439e778 0b2ccf43 2dc5d1d3 0ed036c3 5c285e1b "
        "891022cc c6e63e0e 45cafbb8 178deabf a860f397 4dbf34d2 c67d3d20 541369e5 5a9e0e8c "
        "684cebc3 b129f004 a90904eb bee29ef9 33fee86c 7c47dee3 b4101b05 6265c4a3 eeea880b "
        "0929e94d 5f56221d 152fb3e8 5393575e 26652b0f d34cb5ef c3d9d58a 80e83698 e1172744 "
        "7799ca86 e888a92b 229c3ce9 3de587b3 8bf09969 f48ce209 0fca02bf ea9f6c7d 79bcda05 "
        "53d80c90 53cee436 bba2c748 7c9adfaa 7ae54ec5 702a4845 a0b1550f"
    ),
    "𝐀𝐁𝐂𝐃𝐄𝐅𝐆𝐇𝐈𝐉𝐊𝐋𝐌𝐍𝐎𝐏𝐐𝐑𝐒𝐓𝐔𝐕𝐖𝐗𝐘𝐙𝐚𝐛𝐜𝐝𝐞𝐟𝐠𝐡𝐢𝐣𝐤𝐥𝐦𝐧𝐨𝐩𝐪𝐫𝐬𝐭𝐮𝐯𝐰𝐱𝐲𝐳": (
        "13ab166d 46ca24a6 7cd2e605 9417d753 02634e78 053902d1 199b6b20 3201227b c7398f00 "
        "a4dd2c55 66dfac94 d146a979 452079ae b8562b4e 76f98df9 a0e3bf46 096057b5 8e27948a "
        "7ed98a94 3ad8697c db81b8a1 f58dac8e 5ff51215 498dfcff ef1b8faa 04481c93 92bdf2cc "
        "ae35e77c f867855f 1484224a 0ebb4e7a e27f22fd e3fd21b9 992922a5 6bbc6923 e2b3dad7 "
        "e1513ee9 c26500b0 b395219f 9bdfd1a8 2cddabfd 79a4f014 1e32ff74 c237611d 33a6f97c "
        "51fef2eb 159ffd8b c0edf07f 3fb42f65 9201147f 4f74d800 3a32b948"
    ),
}
"""Hashes of the outlines of MathJax's letters by alphabet."""
LETTERS = {
    outline: letter
    for alphabet, hashes in _OUTLINES.items()
    for outline, letter in zip(hashes.split(), alphabet, strict=True)
}


# Glyph names and ink boxes from embedded font programs.

LONGEST_FONT = 16 * 2**20
"""Maximum size of a font program that is opened, in bytes."""
MOST_FONTS = 200
"""Maximum number of fonts per page that are opened."""
_NAME_LENGTH = 24
"""Length from which a name may be cut: MuPDF keeps 31 characters with the subset prefix."""
_LARGEST_INK = 20.0
"""Maximum size of a plausible glyph box, in type sizes."""
UNNAMED = "Type3 ("
"""MuPDF's prefix of unnamed fonts."""
_UNNAMED = re.compile(r"Type3 \((\d+) 0 R\)$")
"""MuPDF's name for an unnamed Type 3 font: its object number."""
_PRIVATE = "\ue000", "\uf8ff"


class GlyphFacts(NamedTuple):
    """Glyph of a font program: its name and the box of its outline.

    `ink` is in type sizes from the glyph's origin, with y upwards; None for a glyph without an
    outline, such as a space. `name` is None if the font only numbers its glyphs.
    """

    name: str | None
    ink: Box | None


NO_FACTS = GlyphFacts(None, None)


class _Program:
    """Font program of a document, with what was read of it."""

    def __init__(self, document: pymupdf.Document, xref: int) -> None:
        import pymupdf
        from pymupdf import mupdf

        self._font: pymupdf.Font | None = None
        self._facts: dict[int, GlyphFacts] = {}
        try:
            program = document.extract_font(xref)[3]
            if program and len(program) <= LONGEST_FONT:
                self._font = pymupdf.Font(fontbuffer=program)
        except (RuntimeError, ValueError, mupdf.FzErrorBase):  # not a font program
            pass

    @cached_property
    def characters(self) -> dict[int, str]:
        return read_characters(self._font) if self._font else {}

    def facts(self, glyph_id: int) -> GlyphFacts:
        if glyph_id not in self._facts:
            self._facts[glyph_id] = _read(self._font, glyph_id) if self._font else NO_FACTS
        return self._facts[glyph_id]


_KEPT = "_omibench_font_programs"
"""Document attribute that caches its programs: pages share their fonts."""


class EmbeddedFonts:
    """Font programs that a page embeds, listed and opened on first use.

    Two subsets of one font can have the same name on a page: a glyph is looked up in each.
    """

    def __init__(self, page: pymupdf.Page) -> None:
        self._page, self._document = page, page.parent
        kept = vars(page.parent).setdefault(_KEPT, ({}, {}))
        self._opened: dict[int, _Program] = kept[0]
        self._letters: dict[int, dict[int, str]] = kept[1]
        self._best: dict[tuple[str, int], GlyphFacts] = {}

    @cached_property
    def _xrefs(self) -> dict[str, list[int]]:
        xrefs: dict[str, list[int]] = {}
        for font in self._page.get_fonts(full=True)[:MOST_FONTS]:
            xrefs.setdefault(_key(font[3]), []).append(font[0])
        return xrefs

    def facts(self, font: str, glyph_id: int) -> GlyphFacts:
        """Return the facts about a glyph by font name and the id from `get_texttrace()`.

        Returns:
            `NO_FACTS` if the font is not embedded, cannot be opened or lacks the glyph.
        """
        key = (font, glyph_id)
        if key not in self._best:
            best = NO_FACTS
            for program in self._list_programs(font, glyph_id):
                best = program.facts(glyph_id) or best
                if best.ink is not None:
                    break
            self._best[key] = best
        return self._best[key]

    def character(self, font: str, glyph_id: int) -> str | None:
        """Return the character of a glyph according to the tables of its font program.

        Use it if the PDF gives no character or a false one, such as the spaces to which Word 2010
        maps Cambria Math, and for each glyph of an unnamed Type 3 font, whose letters belong to a
        mathematical alphabet if their outlines are known.

        Returns:
            One Unicode character, or None if no embedded program of this name has the glyph, or has
            it as a space or a private character.
        """
        if unnamed := _UNNAMED.match(font):
            xref = int(unnamed[1])
            if xref not in self._letters:
                self._letters[xref] = read_letters(self._document, xref)
            character = self._letters[xref].get(glyph_id, "")
        else:
            programs = self._list_programs(font, glyph_id) if glyph_id else ()
            found = (program.characters.get(glyph_id) for program in programs)
            character = next(filter(None, found), "")
        is_private = _PRIVATE[0] <= character <= _PRIVATE[1]
        return None if is_private or not character.strip() else character

    def _list_programs(self, font: str, glyph_id: int) -> Iterator[_Program]:
        """Yield the programs of this name, which may be cut short."""
        key, is_cut = _key(font), len(font) >= _NAME_LENGTH
        names = [name for name in self._xrefs if name.startswith(key)] if is_cut else [key]
        for xref in (xref for name in names for xref in self._xrefs.get(name, ())):
            if glyph_id < 0:
                return
            if xref not in self._opened:
                self._opened[xref] = _Program(self._document, xref)
            yield self._opened[xref]


def plain_name(font: str) -> str:
    """Return a font's name without its subset prefix: `CMMI10` from `EYPSWD+CMMI10`."""
    head, plus, tail = font.partition("+")
    return tail if plus and len(head) == 6 and head.isupper() else font


def _key(font: str) -> str:
    """Return a name in the form shared by the font's dictionary and its descriptor."""
    name = plain_name(font).removesuffix("-Identity-H").removesuffix("-Identity-V")
    return name.replace(" ", "").replace("-", "")


def _read(font: pymupdf.Font, glyph_id: int) -> GlyphFacts:
    from pymupdf import mupdf

    try:
        name = mupdf.fz_get_glyph_name2(font.this, glyph_id)
        path = mupdf.fz_outline_glyph(font.this, glyph_id, mupdf.FzMatrix())
        rect = mupdf.ll_fz_bound_path(path.m_internal, None, mupdf.ll_fz_scale(1, 1))
    except (RuntimeError, ValueError, mupdf.FzErrorBase):
        return NO_FACTS
    ink = Box(rect.x0, rect.y0, rect.x1, rect.y1)
    fits = ink.x0 < ink.x1 and max(map(abs, ink)) < _LARGEST_INK
    return GlyphFacts(None if not name or name.isdigit() else name, ink if fits else None)
