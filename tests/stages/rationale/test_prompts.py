"""A prompt shows every picture once, where it stands, and no answer but where it is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from omibench.schemas.problem import Choice, Problem
from omibench.schemas.request import ImagePart, TextPart
from omibench.stages.rationale.prompts import TOPIC, WRITE, show_problem, write_prompt

Make = Callable[..., Problem]
FOLDER = Path("results/filter")


def test_pictures_stand_in_the_text_and_beside_their_letters(make: Make) -> None:
    choices = [Choice(label="A", text="1 m"), Choice(label="B", image=1)]
    problem = make(question="Seen in [IMAGE0] here. How far?", choices=choices)
    parts = show_problem(problem, FOLDER)
    seen = [p.text if isinstance(p, TextPart) else p.sha256[0] for p in parts]
    assert seen == ["Problem:\nSeen in", "a", "here. How far?", "(A) 1 m", "(B)", "b"]
    assert [p.path for p in parts if isinstance(p, ImagePart)] == [
        "results/filter/images/a.png",
        "results/filter/images/b.png",
    ]


def test_a_picture_without_a_place_is_sent_and_no_answer(make: Make) -> None:
    problem = make(question="How far does it roll?", answer=["(a) 31.4 cm", "(b) TRUE"])
    for entry, values in ((WRITE, {}), (TOPIC, {"labels": "- optics"})):
        conversation = write_prompt(entry, problem, FOLDER, values)
        assert [image.sha256[0] for image in conversation.images] == ["a", "b"]
        assert "31.4" not in conversation.text
