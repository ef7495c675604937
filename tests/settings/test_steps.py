"""What a setting asks first, and when it has its answer."""

from __future__ import annotations

from pathlib import Path

from omibench.params.setting import Setting
from omibench.schemas.problem import Figure, Question
from omibench.schemas.request import Decoding, Response
from omibench.settings.captions import caption_conversation
from omibench.settings.present import present
from omibench.settings.steps import Task, next_step

QUESTION = Question(id="q", question="Which is larger?")
DECODING = Decoding(temperature=0.6, samples=3)


def test_a_plain_setting_asks_once_as_it_presents_and_decodes() -> None:
    task = Task(QUESTION, Setting(decoding=DECODING), Path())
    (ask,) = next_step(task)
    assert ask.conversation == present(QUESTION, task.setting)
    assert (ask.decoding, ask.role, ask.model, ask.shared) == (DECODING, "respondent", None, False)


def test_one_answer_ends_it() -> None:
    assert next_step(Task(QUESTION, Setting(), Path()), [[Response(text="So.")]]) == ()


FIGURES = [Figure(file=f"images/{i}.png", sha256=f"{i:064x}") for i in range(2)]
SHOWN = Question(id="q", question="Is [IMAGE1] or [IMAGE0] larger?", images=FIGURES)
WORDS = {"show": "captions", "model": "eyes"}


def test_captions_of_all_pictures_are_asked_for_first_and_stand_in_their_places() -> None:
    task = Task(SHOWN, Setting.model_validate({"images": WORDS, "decoding": DECODING}), Path("f"))
    first = next_step(task)
    assert [ask.conversation for ask in first] == [
        caption_conversation(SHOWN, index, "f") for index in range(2)
    ]
    assert {(ask.role, ask.model, ask.shared) for ask in first} == {("captioner", "eyes", True)}
    captions = [Response(text="a pea"), Response(text="a melon")]
    (second,) = next_step(task, [captions])
    assert second.conversation.images == []
    assert "[IMAGE1, described in words: a melon] or [IMAGE0, d" in second.conversation.text
    assert (second.role, second.model, second.shared) == ("respondent", None, False)
    assert next_step(task, [captions, [Response(text="The melon.")]]) == ()


def test_captions_do_not_depend_on_what_else_the_setting_says() -> None:
    settings = [{"images": WORDS}, {"images": WORDS, "prompt": "direct", "decoding": DECODING}]
    one, other = (next_step(Task(SHOWN, Setting.model_validate(s), Path())) for s in settings)
    assert one == other


def test_without_pictures_no_captioner_is_asked() -> None:
    (ask,) = next_step(Task(QUESTION, Setting.model_validate({"images": WORDS}), Path()))
    assert ask.role == "respondent"
    assert Setting.model_validate({"images": WORDS}).in_steps
    assert not Setting.model_validate({"images": "composite"}).in_steps
