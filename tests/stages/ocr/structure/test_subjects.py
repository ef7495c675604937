"""Section headings and tags that name a subject."""

from __future__ import annotations

import pytest

from omibench.schemas.problem import Subject
from omibench.stages.ocr.structure.numbering import is_heading, leading_tag, subject_word


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Biología", "biology"),
        ("Section B: Physics", "physics"),
        ("QUÍMICA", "chemistry"),
        ("Mathematik", "mathematics"),
        ("物理", "physics"),
        ("Physics and Chemistry", None),
        ("History", None),
    ],
)
def test_the_subject_of_a_heading(text: str, subject: Subject | None) -> None:
    assert subject_word(text) == subject


def test_headings() -> None:
    assert all(map(is_heading, ["Section B", "II、简答题", "Química", "Parte 2 Problemas"]))
    assert not any(map(is_heading, ["The physics of a ball is simple enough", "Partial pressure"]))


def test_a_tag_is_cut_off_and_other_brackets_stay() -> None:
    assert leading_tag("[Química] Una sal") == ("chemistry", "Una sal")
    assert leading_tag("[Fe/H] is a ratio") == (None, "[Fe/H] is a ratio")
