"""Formulas that LibreOffice embeds as objects: their frames, and what is in them."""

from __future__ import annotations

import pytest
from benchmarks.formulas import FOLDER
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas import drawings as objects
from omibench.stages.ocr.formulas.drawings import split_objects
from omibench.stages.ocr.formulas.marks import PageMarks
from omibench.stages.ocr.formulas.regions import find_regions
from omibench.stages.ocr.layout.layout import Box

PAPER = FOLDER / "shown/libreoffice-dejavu.pdf"


def set_marks(*words: tuple[str, str], frame: int) -> PageMarks:
    """A row of words with their fonts, one of which is painted in a frame."""
    setting = Setting()
    frames = []
    for number, (word, font) in enumerate(words):
        start = len(setting.glyphs)
        setting.put(word, font=font, gap=0.0)
        boxes = [glyph.box for glyph in setting.glyphs[start:]]
        if number == frame:
            frames.append(Box(boxes[0].x0, boxes[0].y0 - 2, boxes[-1].x1, boxes[-1].y1 + 2))
        setting.x += 3
    return PageMarks(500, 700, tuple(setting.glyphs), frames=tuple(frames))


def test_an_object_is_one_formula_whatever_is_in_it() -> None:
    words = (("that", "Serif"), ("1,2,n", "Serif-Italic"), ("is", "Serif"))
    marks = set_marks(*words, frame=1)
    [region] = find_regions(marks)
    assert "".join(glyph.text for glyph in region.glyphs) == "1,2,n"
    assert region.is_object
    assert not region.display


def test_words_in_a_frame_are_no_formula() -> None:
    marks = set_marks(("see", "Serif"), ("table7", "Serif"), frame=1)
    rest, objects = split_objects(marks)
    assert objects == []
    assert rest == marks


def test_a_page_of_too_many_glyphs_and_frames_is_not_split(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = set_marks(("1,2,n", "Serif-Italic"), frame=0)
    assert len(split_objects(marks)[1]) == 1
    monkeypatch.setattr(objects, "_MOST_PAIRS", len(marks.glyphs) - 1)
    assert split_objects(marks) == (marks, [])
