"""Characters of glyphs by the tables of an OpenType font, broken tables included."""

from __future__ import annotations

import struct
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.formulas.font_programs import EmbeddedFonts, read_characters


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
    characters = read_characters(font)  # type: ignore[arg-type]
    assert {glyph: characters.get(glyph) for glyph in forms} == forms


def test_substitutions_of_other_features_are_not_followed() -> None:
    font = Program({"x": 5}, GSUB=substitutions(b"smcp", SINGLE))
    assert 105 not in read_characters(font)  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "is_read"), [(16, True), (17, False), (20_000, False)])
def test_the_number_of_subtables_read_is_bounded(count: int, *, is_read: bool) -> None:
    # One coverage of 2,000 empty ranges that all subtables share, except the last.
    ranges = words(2, 2000) + words(10, 9, 0) * 2000
    end = 6 + 2 * count
    lookup = words(1, 0, count) + words(end) * (count - 1) + words(end + 6 + len(ranges))
    lookup += words(1, 6, 0) + ranges + SINGLE[8:]
    characters = read_characters(Program({"x": 5}, GSUB=substitutions(b"ssty", lookup)))  # type: ignore[arg-type]
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
    characters = read_characters(font)  # type: ignore[arg-type]
    assert characters[71] == characters[72] == "("
    assert "".join(characters[80 + k] for k in range(3)) == "⎝⎜⎛"


def test_pieces_of_another_number_stay_unknown() -> None:
    characters = read_characters(Program({"(": 7}, MATH=math_table(4)))  # type: ignore[arg-type]
    assert not {80, 81, 82, 83} & characters.keys()


def test_an_alphabet_of_which_a_subset_kept_some_is_completed() -> None:
    a = 0x1D44E
    font = Program({chr(a): 1853, chr(a + 2): 1855, "0": 30, "1": 40})
    characters = read_characters(font)  # type: ignore[arg-type]
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
    characters = read_characters(font)  # type: ignore[arg-type]
    assert (characters[5], characters[7]) == ("x", "(")


def test_cambria_math_of_word_tells_its_letters(shared_data: Path) -> None:
    papers = [*(shared_data / "exam_pdfs").glob("*IJSO-2012*.pdf")]
    if not papers:
        pytest.skip("needs the papers of shared/data/exam_pdfs")
    with pymupdf.open(papers[0]) as document:
        fonts = EmbeddedFonts(document[0])
        glyphs = [
            fonts.character(span["font"], glyph[1])
            for span in document[0].get_texttrace()
            if "Cambria" in span["font"]
            for glyph in span["chars"]
        ]
    assert len(glyphs) > 50
    assert None not in glyphs
    assert {"𝑚", "𝑣", "=", "≅", "÷"} <= set(glyphs)
