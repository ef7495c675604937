"""Character maps that name more characters than a font has."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.formulas.font_programs import MOST_CHARACTERS, has_bounded_map


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
