"""Texts and pictures of problems in forms in which copies are equal or alike."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from rapidfuzz import fuzz

from omibench.datasets.likeness import difference_hash, hamming
from omibench.errors import FileFormatError, MissingInputError
from omibench.schemas.problem import Choice, Problem
from omibench.stages.filter.candidate import (
    BANDS,
    ROWS,
    Similar,
    comparison_text,
    normalise,
    signature,
    statement_text,
)

# Statements without pictures, words counted, and a form in which copies are equal.

Make = Callable[..., Problem]


@example("IMAGE,0")
@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet="abcdefgh XYZ\n", max_size=60))
def test_case_and_spacing_do_not_count(text: str) -> None:
    assert normalise(text.upper()) == normalise("  " + text.replace(" ", " \n ") + " ")


def test_signs_and_digits_count() -> None:
    assert normalise("x + 1") != normalise("x - 1")
    assert normalise("1.5 cm") != normalise("15 cm")
    assert normalise("x − 1.") == normalise("x - 1")


def test_numbers_of_figures_do_not_count() -> None:
    assert normalise("Figures 1 and 2 show") == normalise("FIGURES 11 and 12, show")
    assert normalise("a cart of 2 kg") != normalise("a cart of 3 kg")


def test_statement_without_marks_and_captions(make: Make) -> None:
    question = (
        "See Figures 1 and 2.\n[IMAGE0]\nFigure 1: The\nspeed.\n[IMAGE1]\nFigure 2: The r0ad.\nEnd."
    )
    text = statement_text(make(question=question))
    assert text.split() == ["See", "Figures", "1", "and", "2.", "End."]


def test_choices_are_compared(make: Make) -> None:
    choices = [Choice(label="A", text="1 m"), Choice(label="B", text="2 m")]
    other = [Choice(label="A", text="1 m"), Choice(label="B", text="3 m")]
    one, two = make(choices=choices), make(choices=other)
    assert comparison_text(one) != comparison_text(two)
    assert comparison_text(one) == comparison_text(make(choices=choices))


def test_formulas_count_in_their_normal_form() -> None:
    assert normalise(r"Let $\dfrac12 x^2$ be.") == normalise(r"let \(\frac{1}{2}x^{2}\) be")
    assert normalise(r"$x_1 = \frac{a}{b}$") != normalise(r"$x_1 = \frac{b}{a}$")
    assert normalise("$x^{2}$") != normalise("$x^{3}$")


# Perceptual hashes follow the look of a picture, not its bytes.

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


# MinHash finds what is similar, and leaves most of what is not.

LETTERS = "eeeetttaaooiinnsshhrrddllcumwfgypbvk"


def word(draw: random.Random) -> str:
    return "".join(draw.choices(LETTERS, k=draw.randrange(2, 9)))


def test_every_pair_as_similar_as_duplicates_is_a_candidate() -> None:
    draw, seen, texts = random.Random(5), Similar(), []
    for _ in range(300):
        texts.append([word(draw) for _ in range(60)])
        seen.add(" ".join(texts[-1]))
    compared = found = others = 0
    for number, words in enumerate(texts):
        edited = list(words)
        for place in draw.sample(range(len(edited)), draw.randrange(1, 12)):
            edited[place] = word(draw)
        text = " ".join(edited)
        candidates = seen.candidates(text)
        others += len(set(candidates) - {number})
        if fuzz.ratio(text, " ".join(words)) >= 85:
            compared += 1
            found += number in candidates
    assert compared > 200
    assert found == compared
    assert others < 0.1 * 300 * 300


@given(st.text())
def test_a_signature_has_one_shape_and_depends_on_the_text_alone(text: str) -> None:
    assert signature(text).shape == (BANDS * ROWS,)
    assert (signature(text) == signature(text)).all()
    seen = Similar()
    seen.add(text)
    assert seen.candidates(text) == [0]
