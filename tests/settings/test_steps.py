"""What a setting asks first, and when it has its answer."""

from __future__ import annotations

from pathlib import Path

from omibench.problem import Question
from omibench.request import Decoding, Response
from omibench.setting_params import Setting
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
