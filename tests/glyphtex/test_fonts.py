"""What fonts say of their glyphs: names, characters, outlines; broken programs included."""

from __future__ import annotations

import struct

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphtex import font_programs as outlines
from glyphtex.font_programs import (
    MOST_CHARACTERS,
    NO_FACTS,
    EmbeddedFonts,
    has_bounded_map,
    hash_outline,
    read_letters,
)
from glyphtex.symbols import identify, of_character, of_encoded
from glyphtex.text_layer import read_characters

# Character maps that name more characters than a font has.


def program(*maps: bytes, kind: bytes = b"\0\1\0\0") -> bytes:
    """A font program that has only character maps."""
    head = struct.pack(">4s4H", kind, len(maps), 0, 0, 0)
    start = 12 + 16 * len(maps)
    for k, table in enumerate(maps):
        place = start + sum(map(len, maps[:k]))
        head += struct.pack(">4sLLL", b"cmap", 0, place, len(table))
    return head + b"".join(maps)


def character_map(form: int, *groups: tuple[int, int, int]) -> bytes:
    """A map of one subtable of groups: first and last character, and a glyph."""
    header = struct.pack(">HHLL", form, 0, 0, 0) + (bytes(8192) if form == 8 else b"")
    rows = b"".join(struct.pack(">LLL", *group) for group in groups)
    return struct.pack(">HHHHL", 0, 1, 3, 10, 12) + header + struct.pack(">L", len(groups)) + rows


SMALL = character_map(12, (0x20, 0x7F, 1), (0x1D400, 0x1D7FF, 97))

SEGMENTS = struct.pack(">HHHHL", 0, 1, 3, 1, 12) + struct.pack(">7H", 4, 16, 0, 2, 2, 0, 0)


@pytest.mark.parametrize("table", [SMALL, SEGMENTS, b""])
def test_a_font_with_an_ordinary_map_can_be_listed(table: bytes) -> None:
    assert has_bounded_map(program(table))


@pytest.mark.parametrize("start", [b"%!PS-AdobeFont-1.0", b"\x80\1", b"\1\0\4\4"])
def test_type_1_and_cff_have_no_map(start: bytes) -> None:
    assert has_bounded_map(start)


@pytest.mark.parametrize("form", [8, 12, 13])
def test_a_group_of_all_numbers_cannot_be_listed(form: int) -> None:
    table = character_map(form, (0, 0xFFFFFFFF, 1))
    assert not has_bounded_map(program(table))
    assert not has_bounded_map(program(SMALL, table))


def test_many_groups_cannot_be_listed() -> None:
    groups = [(9, 8, 1)] * (MOST_CHARACTERS + 1)
    assert not has_bounded_map(program(character_map(12, *groups)))
    assert has_bounded_map(program(character_map(12, *groups[:1000])))


@pytest.mark.parametrize("kind", [b"ttcf", b"wOFF", b""])
def test_other_kinds_of_programs_are_not_listed(kind: bytes) -> None:
    assert not has_bounded_map(program(SMALL, kind=kind) if kind else None)


@given(st.binary(max_size=60), st.integers(0, 100))
def test_broken_maps_do_no_harm(table: bytes, cut: int) -> None:
    assert isinstance(has_bounded_map(program(SMALL[:cut] + table)), bool)


def test_a_font_that_is_no_font_is_left_out() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_font(fontname="F0", fontbuffer=pymupdf.Font("helv").buffer)
    page.insert_text((72, 100), "x", fontname="F0")
    descriptor = next(
        xref
        for xref in range(1, document.xref_length())
        if document.xref_get_key(xref, "Type")[1] == "/FontDescriptor"
    )
    stream = next(
        int(document.xref_get_key(descriptor, key)[1].split()[0])
        for key in ("FontFile", "FontFile2", "FontFile3")
        if document.xref_get_key(descriptor, key)[0] == "xref"
    )
    document.update_stream(stream, b"no font at all")
    page = document[0]
    font = page.get_texttrace()[0]
    assert EmbeddedFonts(page).facts(font["font"], font["chars"][0][1]) == NO_FACTS


# Fonts whose codes mean something else than the letters as which they are read.


@pytest.mark.parametrize(
    ("font", "text", "latex"),
    [
        ("EuclidSymbol-Italic", "p", "\\pi"),
        ("EuclidSymbol", "D", "\\Delta"),
        ("EuclidSymbol", "\u00b4", "\\times"),
        ("EuclidSymbol", "\u00b5", "\\propto"),
        ("EuclidSymbol", "\u00bb", "\\approx"),
        ("EuclidSymbol", "\u00a2", "'"),
        ("EuclidSymbol", "\uf0b0", "^{\\circ}"),
        ("SymbolMT", "\uf070", "\\pi"),
        ("SymbolMT", "π", "\\pi"),
        ("SymbolMT", "f", "\\phi"),
        ("SymbolMT", "ϕ", "\\varphi"),
        ("SymbolMT", "×", "\\times"),
        ("Symbol,Italic", "q", "\\theta"),
        ("Symbol", "\uf8eb", "("),
        ("StandardSymbolsPS", "e", "\\varepsilon"),
        ("MTExtra", "\uf03d", "\\ll"),
        ("MTExtra", "\uf03b", "\\simeq"),
        ("MTExtra", "\uf03a", "\\sim"),
        ("MTExtra", "\uf065", "\\odot"),
        ("MT-Extra", "h", "\\hbar"),
        ("MTExtra", "r", "\\vec"),
        ("EuclidExtra", "\uf0a5", "\\mathbb{N}"),
        ("EuclidMathOne", "L", "\\mathcal{L}"),
        ("EuclidMathTwo", "\uf052", "\\mathbb{R}"),
        ("EuclidMathTwo", "\uf085", "\\geqslant"),
        ("EuclidFraktur", "g", "\\mathfrak{g}"),
        ("Wingdings-Regular", "\u00e0", "\\to"),
    ],
)
def test_a_code_is_what_the_font_prints(font: str, text: str, latex: str) -> None:
    assert identify(font, text).latex == latex


def test_a_code_without_a_glyph_is_unknown() -> None:
    assert identify("MTExtra", "\uf02f").kind == "unknown"
    assert identify("MathematicalPi-One", "5").kind == "unknown"


def test_other_fonts_have_no_codes() -> None:
    for font in ("OpenSymbol", "SymbolicSans", "TimesNewRomanPSMT", "Wingdings3"):
        assert of_encoded(font, "p") is None
    assert of_encoded("SymbolMT", " ") is None
    assert identify("TimesNewRomanPSMT", "p").latex == of_character("p").latex


# Glyphs of many fonts, and what they mean.

UNKNOWN = "\ufffd"


@pytest.mark.parametrize(
    ("font", "text", "name", "latex", "kind"),
    [
        ("CMMI10", "a", "a", "a", "letter"),
        ("CMMI10", "ε", "epsilon1", r"\epsilon", "letter"),
        ("CMMI10", "ε", "epsilon", r"\varepsilon", "letter"),
        ("CMMI10", "⃗", "vector", r"\vec", "accent"),
        ("CMSY10", "A", "A", r"\mathcal{A}", "letter"),
        ("CMSY10", "√", "radical", r"\sqrt", "root"),
        ("CMSY10", "−", "minus", "-", "operator"),
        ("CMEX10", UNKNOWN, "parenleftBig", "(", "open"),
        ("CMEX10", UNKNOWN, "bracerightbigg", r"\}", "close"),
        ("CMEX10", "\uf8f1", "bracelefttp", r"\{", "piece"),
        ("CMEX10", UNKNOWN, "radicalBigg", r"\sqrt", "root"),
        ("CMEX10", UNKNOWN, "radicalvertex", r"\sqrt", "piece"),
        ("CMEX10", UNKNOWN, "summationdisplay", r"\sum", "large"),
        ("LMMathExtension10-Regula", UNKNOWN, "integraltext", r"\int", "large"),
        ("MSBM10", "R", "R", r"\mathbb{R}", "letter"),
        ("EUFM10", "g", "g", r"\mathfrak{g}", "letter"),
        ("EURM10", "x", "x", "x", "letter"),
        ("rsfs10", "L", "L", r"\mathscr{L}", "letter"),
        ("CMBX10", "F", "F", r"\mathbf{F}", "letter"),
        ("CMMIB10", "F", "F", r"\boldsymbol{F}", "letter"),
        ("NewTXMI", "𝑥", "u1D465", "x", "letter"),
        ("txexs", "∑", "summationdisplay.1", r"\sum", "large"),
        ("txexs", UNKNOWN, "hat4", r"\widehat", "accent"),
        ("txsyb", "R", "R", r"\mathbb{R}", "letter"),
        ("STIXTwoMath", "(", "parenleft.s5", "(", "open"),
        ("STIXTwoMath", "√", "uni221A.s4", r"\sqrt", "root"),
        ("XITSMath", "𝜖", None, r"\epsilon", "letter"),
        ("XITSMath", "𝜀", None, r"\varepsilon", "letter"),
        ("NewCMMath-Book", "𝔤", None, r"\mathfrak{g}", "letter"),
        ("NewCMMath-Book", "⎛", None, "(", "piece"),
        ("LiberationSerif-Italic", "x", "x", "x", "letter"),
        ("OpenSymbol", "∮", None, r"\oint", "large"),
        ("Arial", "²", None, "^{2}", "digit"),
        ("Arial", "½", None, r"\frac{1}{2}", "letter"),
        ("Arial", "\ufe00", None, "", "space"),
        ("Arial", UNKNOWN, None, r"\square", "unknown"),
        ("F17", UNKNOWN, "summationdisplay", r"\sum", "large"),
    ],
)
def test_a_glyph_is_known(font: str, text: str, name: str | None, latex: str, kind: str) -> None:
    symbol = identify(font, text, name=name)
    assert (symbol.latex, symbol.kind) == (latex, kind)


@pytest.mark.parametrize(
    ("font", "text", "upright"),
    [
        ("CMR10", "s", True),
        ("CMMI10", "s", False),
        ("EURM10", "s", False),
        ("CMTI10", "s", False),
        ("LMRoman10-Regular", "s", True),
        ("LiberationSerif", "s", True),
        ("LiberationSerif-Italic", "s", False),
        ("XITSMath", "𝑠", False),
        ("XITSMath", "s", True),
        ("CMR10", "7", False),
    ],
)
def test_roman_letters_are_told_from_variables(font: str, text: str, upright: bool) -> None:
    assert identify(font, text).upright is upright


@given(
    st.sampled_from(["CMMI10", "CMEX10", "MSBM10", "STIXTwoMath", "Arial", ""]),
    st.characters(),
    st.none() | st.text(max_size=12) | st.from_regex(r"u(ni)?[0-9A-F]{4,6}", fullmatch=True),
)
def test_whatever_a_font_says_there_is_a_symbol(font: str, text: str, name: str | None) -> None:
    symbol = identify(font, text, name=name)
    assert symbol.latex or symbol.kind in {"space", "piece"}


# Characters of glyphs by the tables of an OpenType font, broken tables included.


class Program:
    """A font program of a few glyphs with the tables that are given."""

    def __init__(self, glyphs: dict[str, int], **tables: bytes) -> None:
        self.glyphs = {ord(character): glyph for character, glyph in glyphs.items()}
        head = struct.pack(">4s4H", b"OTTO", len(tables), 0, 0, 0)
        start = 12 + 16 * len(tables)
        body = b""
        for tag, table in tables.items():
            head += struct.pack(">4sLLL", tag.encode(), 0, start + len(body), len(table))
            body += table
        self.buffer = head + body

    def valid_codepoints(self) -> list[int]:
        return list(self.glyphs)

    def has_glyph(self, point: int) -> int:
        return self.glyphs[point]


def words(*values: int) -> bytes:
    return struct.pack(f">{len(values)}H", *values)


def substitutions(tag: bytes, lookup: bytes) -> bytes:
    """A GSUB table of one feature with one lookup."""
    features = words(1) + tag + words(8) + words(0, 1, 0)
    return words(1, 0, 0, 10, 10 + len(features)) + features + words(1, 4) + lookup


SINGLE = words(1, 0, 1, 8) + words(1, 6, 100) + words(1, 1, 5)
"""Glyph 5 becomes 105."""

PAIRS = words(1, 0, 1, 8) + words(2, 10, 2, 201, 202) + words(2, 1, 5, 6, 0)
"""Glyphs 5 and 6 become 201 and 202."""

CHOICES = words(3, 0, 1, 8) + words(1, 14, 1, 8) + words(2, 301, 302) + words(1, 1, 5)
"""Glyph 5 becomes 301 or 302."""

EXTENDED = words(7, 0, 1, 8) + words(1, 3, 0, 8) + CHOICES[8:]


@pytest.mark.parametrize(
    ("lookup", "forms"),
    [
        (SINGLE, {105: "x"}),
        (PAIRS, {201: "x", 202: "y"}),
        (CHOICES, {301: "x", 302: "x"}),
        (EXTENDED, {301: "x", 302: "x"}),
    ],
)
def test_forms_for_scripts_lead_back_to_their_letters(lookup: bytes, forms: dict[int, str]) -> None:
    font = Program({"x": 5, "y": 6}, GSUB=substitutions(b"ssty", lookup))
    characters = outlines.read_characters(font)  # type: ignore[arg-type]
    assert {glyph: characters.get(glyph) for glyph in forms} == forms


@pytest.mark.parametrize(("count", "is_read"), [(16, True), (17, False), (20_000, False)])
def test_the_number_of_subtables_read_is_bounded(count: int, *, is_read: bool) -> None:
    # One coverage of 2,000 empty ranges that all subtables share, except the last.
    ranges = words(2, 2000) + words(10, 9, 0) * 2000
    end = 6 + 2 * count
    lookup = words(1, 0, count) + words(end) * (count - 1) + words(end + 6 + len(ranges))
    lookup += words(1, 6, 0) + ranges + SINGLE[8:]
    characters = outlines.read_characters(Program({"x": 5}, GSUB=substitutions(b"ssty", lookup)))  # type: ignore[arg-type]
    assert (105 in characters) is is_read


def math_table(pieces: int) -> bytes:
    """The variants of glyph 7: 71 and 72, and glyphs 80 and on to put together."""
    construction = words(12, 2, 71, 900, 72, 1200)
    parts = b"".join(words(80 + k, 0, 0, 500, k % 2) for k in range(pieces))
    assembly = words(0, 0, pieces) + parts
    body = construction + assembly
    variants = words(10, 12 + len(body), 0, 1, 0) + words(12) + body + words(1, 1, 7)
    return words(1, 0, 0, 0, 10) + variants


def test_tall_forms_and_their_pieces_are_those_of_a_bracket() -> None:
    font = Program({"(": 7}, MATH=math_table(3))
    characters = outlines.read_characters(font)  # type: ignore[arg-type]
    assert characters[71] == characters[72] == "("
    assert "".join(characters[80 + k] for k in range(3)) == "⎝⎜⎛"


def test_an_alphabet_of_which_a_subset_kept_some_is_completed() -> None:
    a = 0x1D44E
    font = Program({chr(a): 1853, chr(a + 2): 1855, "0": 30, "1": 40})
    characters = outlines.read_characters(font)  # type: ignore[arg-type]
    assert characters[1853 + 23] == chr(a + 23)
    assert characters[1853 + 7] == "ℎ"
    assert 32 not in characters, "two digits that disagree tell nothing"


@given(
    gsub=st.binary(max_size=200),
    cut=st.integers(0, 120),
    math=st.one_of(st.binary(max_size=120), st.just(math_table(3))),
)
def test_broken_tables_do_no_harm(gsub: bytes, cut: int, math: bytes) -> None:
    font = Program({"x": 5, "(": 7}, GSUB=substitutions(b"ssty", gsub), MATH=math[:cut])
    font.buffer = font.buffer[: len(font.buffer) - cut % 7]
    characters = outlines.read_characters(font)  # type: ignore[arg-type]
    assert (characters[5], characters[7]) == ("x", "(")


# Letters of Type 3 fonts by their outlines.

TRIANGLE = b"500 0 10 -700 490 0 d1\n10 0 m\n490 0 l\n250 -700 l\nh\nf\n"

SQUARE = b"500 0 10 -400 410 0 d1\n10 0 m\n410 0 l\n410 -400 l\n10 -400 l\nh\nf\n"


def draw_page(triangle: bytes = TRIANGLE, matrix: str = ".001 0 0 -.001 0 0") -> pymupdf.Page:
    """A page with a triangle and a square of a Type 3 font without a name."""
    document = pymupdf.open()
    page = document.new_page()
    numbers = [document.get_new_xref() for _ in range(3)]
    for xref, procedure in zip(numbers, (triangle, SQUARE), strict=False):
        document.update_object(xref, "<<>>")
        document.update_stream(xref, procedure)
    document.update_object(
        numbers[2],
        f"<</Type/Font/Subtype/Type3/FontMatrix[{matrix}]/FontBBox[0 0 500 -700]/FirstChar 65"
        f"/LastChar 66/Widths[500 500]/Encoding<</Type/Encoding/Differences[65/gA/gB]>>"
        f"/CharProcs<</gA {numbers[0]} 0 R/gB {numbers[1]} 0 R>>>>",
    )
    document.xref_set_key(page.xref, "Resources", f"<</Font<</F0 {numbers[2]} 0 R>>>>")
    content = document.get_new_xref()
    document.update_object(content, "<<>>")
    document.update_stream(content, b"BT /F0 20 Tf 72 700 Td (AB) Tj ET")
    page.set_contents(content)
    return pymupdf.open(stream=document.tobytes())[0]


@pytest.mark.parametrize("body", ["words of a font with a name", ""])
@pytest.mark.parametrize(("letter", "text"), [("𝛥", "𝛥"), ("\ue123", "A"), (" ", "A")])
def test_a_known_outline_is_a_letter_and_the_font_of_the_body_is_not_mathematical(
    monkeypatch: pytest.MonkeyPatch, body: str, letter: str, text: str
) -> None:
    monkeypatch.setitem(outlines.LETTERS, hash_outline(TRIANGLE, -1), letter)
    page = draw_page()
    page.insert_text((72, 200), body)
    triangle, square = read_characters(page, ()).runs[0].characters
    assert (triangle.text, square.text) == (text, "B")
    is_mathematical = bool(body) and letter == text
    assert triangle.font.startswith("MathJax_Type3 (" if is_mathematical else "Type3 (")


def test_an_outline_is_the_same_at_every_scale() -> None:
    double = b"20 0 m\n980 0 l\n500 1400 l\nh\nf\n"
    assert hash_outline(double, 0.5) == hash_outline(TRIANGLE, -1) != hash_outline(SQUARE, -1)
    assert hash_outline(b"q 10 0 0 10 0 0 cm /Im Do Q", 1) == ""


def test_numbers_without_an_operator_are_read_once() -> None:
    # Twenty times the longest procedure: a search that begins again at each number takes minutes.
    assert hash_outline(b"1 " * 200_000, 1) == hash_outline(b"1" * 400_000, 1) == ""


@pytest.mark.parametrize(
    ("triangle", "matrix"),
    [
        (b"0 0 d0 1.2.3 . m", "1 0 0 1 0 0"),
        (TRIANGLE, "1 0 0 nan 0 0"),
        (TRIANGLE, "1 0 0 inf 0 0"),
    ],
)
def test_points_that_are_no_numbers_have_no_letter(triangle: bytes, matrix: str) -> None:
    page = draw_page(triangle)
    xref = page.get_fonts()[0][0]
    page.parent.xref_set_key(xref, "FontMatrix", f"({matrix})")
    assert read_letters(page.parent, xref) == {}


@pytest.mark.parametrize("matrix", ["a b c d e f", "", "1 2"])
def test_a_broken_font_tells_nothing(matrix: str) -> None:
    page = draw_page(matrix=matrix)
    fonts = [font[0] for font in page.get_fonts()]
    assert all(read_letters(page.parent, xref) == {} for xref in [*fonts, 1])
