from __future__ import annotations

from pathlib import Path

import pytest

import omibench
from omibench.errors import ArgumentError, OmibenchError, ParamsError

QUESTION = {
    "id": "q1",
    "question": "How long is the rod in [IMAGE0]?",
    "images": [{"file": "rod.png", "sha256": "0" * 64}],
    "choices": [{"label": "A", "text": "1 m"}, {"label": "B", "text": "2 m"}],
}


def test_a_question_becomes_what_is_sent() -> None:
    conversation = omibench.build_conversation(QUESTION, {"prompt": "direct"}, folder="data")
    assert "How long is the rod in \n[image]" in conversation.text
    assert [image.path for image in conversation.images] == ["data/rod.png"]


def test_objects_and_mappings_give_the_same() -> None:
    question = omibench.Question.model_validate(QUESTION)
    setting = omibench.Setting(prompt="cot")
    assert omibench.build_conversation(question, setting) == omibench.build_conversation(
        QUESTION, {"prompt": "cot"}
    )


def test_captions_stand_for_the_pictures() -> None:
    setting = {"images": {"show": "captions", "model": "captioner"}}
    conversation = omibench.build_conversation(QUESTION, setting, helped_by=["A rod of 2 m."])
    assert "A rod of 2 m." in conversation.text
    assert not conversation.images


@pytest.mark.parametrize(
    ("question", "setting", "keywords", "error", "message"),
    [
        ("q", {}, {}, ArgumentError, "question: is str; give a Question, or a mapping"),
        ({"id": "q"}, {}, {}, ArgumentError, "question: question: Field required"),
        (QUESTION, "cot", {}, ArgumentError, r"such as study.settings\['cot'\], or a mapping"),
        (QUESTION, 1, {}, ArgumentError, "setting: is int; give a Setting, or a mapping"),
        (QUESTION, {}, {"sample": -1}, ArgumentError, "sample: is -1; give a number of at least 0"),
        (QUESTION, {}, {"examples": [{}]}, ArgumentError, r"examples\[0\]: is dict; give rows"),
        (QUESTION, {"promt": "cot"}, {}, ArgumentError, "setting: promt: unknown key; did you"),
        (QUESTION, {"prompt": "ctt"}, {}, OmibenchError, "ctt"),
        ({"id": "q", "question": "Why?"}, {"without": ["choices"]}, {}, ParamsError, "no problem"),
        (QUESTION, {}, {"helped_by": ["x"]}, ArgumentError, "helped_by: has 1 texts, but"),
        (QUESTION, {"images": {"show": "captions", "model": "m"}}, {}, ArgumentError,
         r"requests 1 \(captioner texts\) first"),
        (QUESTION, {}, {"helped_by": "x"}, ArgumentError, "helped_by: give a list of texts"),
        (QUESTION, {}, {"folder": 3}, ArgumentError, "folder: is 3; give the path"),
        (QUESTION, {}, {"sample": "0"}, ArgumentError, "sample: is str; give a number"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_one_line(
    question: object,
    setting: object,
    keywords: dict[str, object],
    error: type[OmibenchError],
    message: str,
) -> None:
    with pytest.raises(error, match=message) as caught:
        omibench.build_conversation(question, setting, **keywords)  # type: ignore[arg-type]
    assert len(caught.value.lines) == 1


def test_a_release_is_asked(release: Path) -> None:
    questions = omibench.load_release(release).questions
    conversation = omibench.build_conversation(questions["a"], {}, folder=release)
    assert Path(conversation.images[0].path).is_file()
