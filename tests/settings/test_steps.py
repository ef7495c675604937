"""What a setting asks first, and when it has its answer."""

from __future__ import annotations

from pathlib import Path

from omibench.params.setting import Setting
from omibench.schemas.problem import Question
from omibench.settings.steps import Task, next_step

QUESTION = Question(id="q", question="Which is larger?")


WORDS = {"show": "captions", "model": "eyes"}


def test_without_pictures_no_captioner_is_asked() -> None:
    (ask,) = next_step(Task(QUESTION, Setting.model_validate({"images": WORDS}), Path()))
    assert ask.role == "respondent"
    assert Setting.model_validate({"images": WORDS}).in_steps
    assert not Setting.model_validate({"images": "composite"}).in_steps
