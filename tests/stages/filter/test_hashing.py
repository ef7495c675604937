"""Perceptual hashes follow the look of a picture, not its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from omibench.datasets.likeness import difference_hash, hamming
from omibench.errors import FileFormatError, MissingInputError

hashes = st.integers(min_value=0, max_value=2**64 - 1)


def plot(path: Path, *points: tuple[int, int], size: int = 400, margin: int = 0) -> Path:
    image = Image.new("RGB", (size + 2 * margin, size + 2 * margin), "white")
    pen = ImageDraw.Draw(image)
    corners = [(0, 0), (0, 1), (1, 1)]
    pen.line([(x * (size - 1) + margin, y * (size - 1) + margin) for x, y in corners], "black", 4)
    pen.line([(x * size // 100 + margin, y * size // 100 + margin) for x, y in points], "black", 8)
    image.save(path)
    return path


def test_size_margin_and_format_do_not_count(tmp_path: Path) -> None:
    line = ((0, 90), (40, 10), (95, 70))
    original = difference_hash(plot(tmp_path / "a.png", *line))
    scaled = difference_hash(plot(tmp_path / "b.png", *line, size=250, margin=31))
    compressed = difference_hash(plot(tmp_path / "c.jpg", *line))
    assert hamming(original, scaled) <= 3
    assert hamming(original, compressed) <= 3


def test_other_lines_have_other_hashes(tmp_path: Path) -> None:
    falling = difference_hash(plot(tmp_path / "a.png", (0, 5), (95, 90)))
    rising = difference_hash(plot(tmp_path / "b.png", (0, 90), (95, 5)))
    assert hamming(falling, rising) > 6


def test_transparent_pictures_are_seen_on_white(tmp_path: Path) -> None:
    opaque = Image.open(plot(tmp_path / "a.png", (0, 5), (95, 90))).convert("RGBA")
    clear = Image.new("RGBA", opaque.size, (0, 0, 0, 0))
    ink = opaque.convert("L").point(lambda value: 255 if value < 128 else 0)
    clear.paste(opaque, mask=ink)
    clear.save(tmp_path / "clear.png")
    seen = (difference_hash(tmp_path / "a.png"), difference_hash(tmp_path / "clear.png"))
    assert hamming(*seen) <= 1


def test_a_blank_picture_has_a_hash(tmp_path: Path) -> None:
    Image.new("L", (5, 5), 255).save(tmp_path / "blank.png")
    assert difference_hash(tmp_path / "blank.png") == 0


def test_what_is_no_picture_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_text("no picture")
    with pytest.raises(FileFormatError, match=r"x\.png: cannot be read as a picture"):
        difference_hash(tmp_path / "x.png")
    with pytest.raises(MissingInputError, match=r"y\.png: picture not found"):
        difference_hash(tmp_path / "y.png")


@given(hashes, hashes, hashes)
def test_hamming_is_a_metric(a: int, b: int, c: int) -> None:
    assert hamming(a, b) == hamming(b, a) <= 64
    assert (hamming(a, b) == 0) == (a == b)
    assert hamming(a, c) <= hamming(a, b) + hamming(b, c)
