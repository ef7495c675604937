"""Perception: what is read first, what stands in the question, and that it is asked for once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.settings.problems import PROBLEMS

from omibench.datasets.mathreal import load
from omibench.params.benchmark import BenchmarkParams
from omibench.params.presentation import Perception, PerceptionInput
from omibench.params.setting import Setting
from omibench.schemas.request import TextPart
from omibench.settings.steps import READ_FIGURES, READ_TEXT, Task, add_readings, next_step, readings

BY_ID = {question.id: question for question in PROBLEMS}
PHOTO = BY_ID["photograph"]
QG, DG = "如图，求三角形的面积。", "一个直角三角形，两条直角边分别为3和4。"
GIVEN: tuple[PerceptionInput, ...] = ("I", "I+QG", "I+QG+DG")
QM, DM = "Find the area.", "A triangle."


def test_who_reads_sees_pictures_and_no_words_of_the_question() -> None:
    text, figures = readings(PHOTO, Setting(perception=Perception(given="I+QM+DM")))
    for conversation in (text, figures):
        (message,) = conversation.messages  # as printed: the prompt, and no system message
        assert message.role == "user"
        assert isinstance(message.parts[0], TextPart)
        assert message.parts[0].text.strip() in (READ_TEXT, READ_FIGURES)
        assert len(conversation.images) == 1
        assert QG not in conversation.text
        assert DG not in conversation.text
    assert text != figures


def test_no_mark_of_a_picture_comes_from_what_was_read() -> None:
    read = add_readings(PHOTO, Perception(given="I+QM"), ["See [IMAGE0] and [IMAGE7]."])
    assert read.question == "[IMAGE0]\nSee image 0 and image 7."


@pytest.mark.parametrize(
    "block",
    [
        {"perception": "I", "images": "none"},
        {"perception": "I+QM", "without": ["question"]},
        {"perception": "QM"},
    ],
)
def test_what_does_not_go_together_is_refused(block: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Setting.model_validate(block)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_public_problems_of_mathreal(shared_data: Path, tmp_path: Path, language: str) -> None:
    questions, _, _ = load(shared_data / "mathreal", tmp_path, BenchmarkParams(language=language))
    assert len(questions) == 480
    told = {
        given: Setting(prompt="mathreal", perception=Perception(given=given)) for given in GIVEN
    }
    described = [question for question in questions if question.images[0].caption]
    assert len(described) == 477
    for question in questions:
        text = question.question.removeprefix("[IMAGE0]\n").strip()
        said = {}
        for given, setting in told.items():
            (ask,) = next_step(Task(question, setting, tmp_path))
            said[given] = ask.conversation.text
            assert len(ask.conversation.images) == 1
        assert text not in said["I"]
        assert text in said["I+QG"]
        assert ("[Figure description]" in said["I+QG+DG"]) == (question in described)
