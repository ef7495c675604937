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
from omibench.schemas.problem import Question
from omibench.schemas.request import Decoding, Response, TextPart
from omibench.settings.present import load_prompt
from omibench.settings.steps import READ_FIGURES, READ_TEXT, Task, add_readings, next_step, readings

BY_ID = {question.id: question for question in PROBLEMS}
PHOTO = BY_ID["photograph"]
QG, DG = "如图，求三角形的面积。", "一个直角三角形，两条直角边分别为3和4。"
GIVEN: tuple[PerceptionInput, ...] = ("I", "I+QG", "I+QG+DG")
QM, DM = "Find the area.", "A triangle."


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("I", "[IMAGE0]"),
        ("I+QM", f"[IMAGE0]\n{QM}"),
        ("I+QM+DM", f"[IMAGE0]\n{QM}\n\n[Figure description]\n{DM}"),
        ("I+QG", f"[IMAGE0]\n{QG}"),
        ("I+QG+DG", f"[IMAGE0]\n{QG}\n\n[Figure description]\n{DG}"),
    ],
)
def test_the_words_of_the_six_settings(given: PerceptionInput, text: str) -> None:
    assert add_readings(PHOTO, Perception(given=given), [QM, DM]).question == text


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


def test_reading_in_one_pass_has_the_rules_of_the_paper() -> None:
    """Appendix D, prompt of IUER: punctuation and dialogue are told to no other prompt."""
    words = load_prompt("mathreal-iuer").open
    assert "with English punctuation" in words
    assert "dialogue, write out the question and nothing of what they say" in words
    for other in (READ_TEXT, READ_FIGURES, load_prompt("mathreal").open):
        assert "punctuation" not in other
        assert "dialogue" not in other


def test_several_descriptions_count_as_the_pictures_are_met() -> None:
    told = add_readings(BY_ID["mark-in-choice"], Perception(given="I+QG+DG")).question
    assert told.endswith("Picture 1: A flask.\nPicture 2: A line that falls.\nPicture 3: A tube.")


def test_no_mark_of_a_picture_comes_from_what_was_read() -> None:
    read = add_readings(PHOTO, Perception(given="I+QM"), ["See [IMAGE0] and [IMAGE7]."])
    assert read.question == "[IMAGE0]\nSee image 0 and image 7."


def test_a_problem_without_description_is_asked_with_its_text() -> None:
    bare = PHOTO.model_copy(
        update={"images": [PHOTO.images[0].model_copy(update={"caption": None})]}
    )
    assert add_readings(bare, Perception(given="I+QG+DG")).question == f"[IMAGE0]\n{QG}"


def test_the_reading_is_a_step_of_its_own_for_all_samples() -> None:
    setting = Setting(
        perception=Perception(given="I+QM", by="reader"),
        decoding=Decoding(temperature=0.6, samples=3),
    )
    assert setting.helpers == ["reader"]
    task = Task(PHOTO, setting, Path())
    (first,) = next_step(task)
    assert (first.role, first.model, first.shared) == ("perceiver", "reader", True)
    assert first.decoding == Decoding(temperature=0.6)
    (last,) = next_step(task, [[Response(text=QM)]])
    assert last.role == "respondent"
    assert QM in last.conversation.text
    assert next_step(task, [[Response(text=QM)], [Response(text="6")]]) == ()


def test_the_same_is_read_whatever_the_prompt() -> None:
    one, other = (
        readings(PHOTO, Setting(prompt=prompt, perception=Perception(given="I+QM")))
        for prompt in ("mathreal", "cot")
    )
    assert one == other


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


def test_words_alone_say_what_they_are() -> None:
    assert Setting.model_validate({"perception": "I+QM"}).perception == Perception(given="I+QM")
    question = Question(id="q", question="Why?")
    assert add_readings(question, Perception(given="I+QG")).question == "Why?"


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
