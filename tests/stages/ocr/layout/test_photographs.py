"""Photographs: their pixels, which lines are print, and problems without numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.stages.ocr.engines.pages import Scripted, page_picture, reading

from glyphtex.marks import Box
from omibench.stages.ocr.engines.rapidocr import evenly_lit
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.scans import find_unprinted_lines, load_pixels, read_photograph
from omibench.stages.ocr.structure.document import read_document
from omibench.stages.ocr.structure.drafts import only_problem

Maker = Callable[..., Line]
QUESTION = "7. How far does the train go in this time?"


def saved(path: Path, **more: object) -> Path:
    Image.fromarray(page_picture()).save(path, **more)
    return path


def test_a_photograph_stands_as_its_camera_says_and_is_neither_tiny_nor_huge(
    tmp_path: Path,
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    picture = load_pixels(saved(tmp_path / "a.jpg", exif=exif))
    height, width, _ = picture.shape
    assert height > width
    assert max(height, width) == 640
    Image.new("RGB", (5200, 300)).save(tmp_path / "b.png")
    assert load_pixels(tmp_path / "b.png").shape == (150, 2600, 3)


def test_a_problem_alone_keeps_its_number_and_loses_labels_and_handwriting(tmp_path: Path) -> None:
    engine = Scripted(
        reading(QUESTION, 40, 40),
        reading("5 cm", 300, 300, confidence=0.99),
        reading("x = 3 + 4 = 7", 40, 200, confidence=0.6),
    )
    pdf, scanned = read_photograph(saved(tmp_path / "a.png"), engine)
    document = read_document(pdf, lambda page, number: scanned, every=True)
    assert document.pages[0].text == QUESTION
    reasons = {line.text: line.left_out for line in document.pages[0].lines}
    assert reasons == {QUESTION: None, "5 cm": "label", "x = 3 + 4 = 7": "handwriting"}
    (draft,) = only_problem(document)
    assert draft.number == "7"
    lines = [item.text for item in draft.statement if isinstance(item, Line)]
    assert lines == [QUESTION.removeprefix("7. ")]


def test_the_type_of_a_photograph_is_ten_points_whatever_its_size(tmp_path: Path) -> None:
    for height in (20, 60):
        engine = Scripted(reading(QUESTION, 40, 40, height))
        _, scanned = read_photograph(saved(tmp_path / "a.png"), engine)
        assert scanned.lines[0].size == pytest.approx(10, abs=0.1)


def test_a_leaning_photograph_is_levelled_and_nothing_is_cut_off(tmp_path: Path) -> None:
    from omibench.stages.ocr.layout.scans import turned_reading

    engine = Scripted(turned_reading(reading(QUESTION, 40, 40), 5.0, (0.0, 0.0)))
    _, scanned = read_photograph(saved(tmp_path / "a.png"), engine)
    assert scanned.turn == pytest.approx(-5.0)
    before, after = engine.shown
    assert after[0] > before[0]
    assert after[1] > before[1]


def test_a_page_that_says_nothing_is_no_problem(tmp_path: Path) -> None:
    pdf, scanned = read_photograph(saved(tmp_path / "a.png"), Scripted())
    assert only_problem(read_document(pdf, lambda page, number: scanned, every=True)) == []


def sample(line: Maker, text: str, confidence: float, y: float = 200.0) -> Line:
    made = line(text, x=300, y=y)
    return Line(1, made.box, text, 10, baseline=y, confidence=confidence, engine="x")


@pytest.mark.parametrize(
    ("text", "confidence", "reason"),
    [
        ("A", 0.99, "label"),
        ("4厘米", 0.99, "label"),
        ("3.14×2×18=113.04", 0.95, "handwriting"),
        ("=128(m)", 0.97, "handwriting"),
        ("答：面积是12平方厘米。", 0.9, "handwriting"),
        ("scribbled words", 0.5, "handwriting"),
        ("B. f(x) > 3", 0.7, None),
        ("求阴影部分的面积。", 0.85, None),
        ("and how wide is it?", 0.98, None),
    ],
)
def test_what_is_no_print(line: Maker, text: str, confidence: float, reason: str | None) -> None:
    words = sample(line, "A triangle stands on a table. What is its height?", 0.99, y=100)
    words = Line(1, Box(60, 90, 500, 104), words.text, 10, confidence=0.99, engine="x")
    doubtful = sample(line, text, confidence)
    assert find_unprinted_lines([words, doubtful]).get(id(doubtful)) == reason
    assert id(words) not in find_unprinted_lines([words, doubtful])


@given(st.lists(st.tuples(st.text(max_size=20), st.floats(0, 1)), max_size=8))
def test_some_reason_or_none_for_any_lines(said: list[tuple[str, float]]) -> None:
    lines = [
        Line(1, Box(10, 20 * k, 200, 20 * k + 12), text, 10, confidence=sure)
        for k, (text, sure) in enumerate(said)
    ]
    assert set(find_unprinted_lines(lines).values()) <= {"handwriting", "label"}
    assert set(find_unprinted_lines(lines)) <= {id(line) for line in lines}


def test_even_light_leaves_ink_alone_dark() -> None:
    pytest.importorskip("cv2")
    picture = page_picture().astype(np.float32)
    shade = np.linspace(0.2, 1.0, picture.shape[1])[None, :, None]
    even = evenly_lit((picture * shade).astype(np.uint8))
    assert even.shape == picture.shape
    paper = np.median(even, axis=(0, 2))
    assert paper.min() > 200
    assert (even < 120).any()
