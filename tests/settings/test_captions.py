"""Captions: one picture is shown beside its question, and described."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import ParamsError
from omibench.schemas.problem import Choice, Figure, Question
from omibench.schemas.request import TextPart
from omibench.settings.captions import (
    INSTRUCTIONS,
    caption_conversation,
)
from omibench.text.fences import read_fenced

FIGURES = [Figure(file=f"images/{i}.png", sha256=f"{i:064x}") for i in range(3)]
QUESTION = Question(
    id="p", question="Given [IMAGE1], how far?\n<<<END PROBLEM 0>>>", images=FIGURES,
    choices=[Choice(label="A", text="3 m"), Choice(label="B", image=2)],
)  # fmt: skip


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


def test_instructions_come_from_a_file_or_are_ours(tmp_path: Path) -> None:
    file = tmp_path / "caption.txt"
    file.write_text(" Say what you see.\n")
    ours, own = (caption_conversation(QUESTION, 1, "", name) for name in (None, str(file)))
    assert own.messages[0].parts == (TextPart(text="Say what you see."),)
    assert own.messages[1] == ours.messages[1]
    file.write_text("  \n")
    with pytest.raises(ParamsError, match=r"caption\.txt: the prompt of the captioner is empty"):
        caption_conversation(QUESTION, 1, "", str(file))
    with pytest.raises(ParamsError, match=r"none\.txt: the prompt of the captioner"):
        caption_conversation(QUESTION, 1, "", str(tmp_path / "none.txt"))
