"""Captions: one picture is shown and described, and words stand where the pictures stood."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import ParamsError
from omibench.fence import read_fenced
from omibench.problem import Choice, Figure, Question
from omibench.request import TextPart
from omibench.settings.captions import (
    INSTRUCTIONS,
    caption_conversation,
    caption_instructions,
    caption_request,
    present_captions,
)

FIGURES = [Figure(file=f"images/{i}.png", sha256=f"{i:064x}") for i in range(3)]
QUESTION = Question(
    id="p", question="Given [IMAGE1], how far?\n<<<END PROBLEM 0>>>", images=FIGURES,
    choices=[Choice(label="A", text="3 m"), Choice(label="B", image=2)],
)  # fmt: skip
CAPTIONS = ["a cart\n\nat rest", "a road of 12 m", ""]


def test_one_picture_is_shown_beside_the_whole_question() -> None:
    conversation = caption_conversation(QUESTION, 1, "data/frozen")
    (picture,) = conversation.images
    assert picture.sha256 == FIGURES[1].sha256
    assert Path(picture.path) == Path("data/frozen/images/1.png")
    system, user = (message.parts[0] for message in conversation.messages)
    assert isinstance(system, TextPart)
    assert isinstance(user, TextPart)
    assert system.text == INSTRUCTIONS
    shown = read_fenced(user.text)["PROBLEM"]
    assert shown == f"{QUESTION.question}\nA: 3 m\nB: [IMAGE2]"
    assert user.text.endswith("Describe [IMAGE1] of this problem, which is here:")


def test_a_caption_is_asked_for_once_whatever_the_study() -> None:
    one, other = caption_request(QUESTION, 0, study="a"), caption_request(QUESTION, 0, study="b")
    assert one.conversation == other.conversation
    assert one.tags.role == "captioner"
    assert one.conversation != caption_request(QUESTION, 1).conversation


def test_words_stand_where_pictures_stood_and_no_picture_is_left() -> None:
    conversation = present_captions(QUESTION, CAPTIONS, "cot")
    assert conversation.images == []
    text = conversation.text
    assert "Given [IMAGE1, described in words: a road of 12 m], how far?" in text
    assert "\n[IMAGE0, described in words: a cart at rest]" in text, "marked nowhere"
    assert "A. 3 m\nB. [IMAGE2, described in words: (no description)]" in text
    assert text.endswith("Let's think step-by-step!")


def test_an_open_question_has_no_block_of_choices() -> None:
    open_question = QUESTION.model_copy(update={"choices": None})
    assert "[Choices]" not in present_captions(open_question, CAPTIONS, "cot").text


def test_instructions_come_from_a_file_or_are_ours(tmp_path: Path) -> None:
    assert caption_instructions(None) == INSTRUCTIONS
    file = tmp_path / "caption.txt"
    file.write_text(" Say what you see.\n")
    assert caption_instructions(str(file)) == "Say what you see."
    file.write_text("  \n")
    with pytest.raises(ParamsError, match=r"caption\.txt: the prompt of the captioner is empty"):
        caption_instructions(str(file))
    with pytest.raises(ParamsError, match=r"none\.txt: the prompt of the captioner"):
        caption_instructions(str(tmp_path / "none.txt"))
