"""Steps: the next request of a setting, given the earlier answers (design, section 6).

Most settings have one request. Others query a captioner first, or have the model read a picture
before it solves the problem, or let it zoom in with tools. Each is a pure function from a task and
the earlier responses to the next step; an empty step means that the last response is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.params.setting import Setting
from omibench.schemas.example import Example
from omibench.schemas.problem import Question
from omibench.schemas.request import Conversation, Decoding, Response, Role
from omibench.settings.ablation import ablate
from omibench.settings.captions import DECODING as CAPTION_DECODING
from omibench.settings.captions import caption_conversation
from omibench.settings.examples import choose_examples, show_examples
from omibench.settings.perception import add_readings, readings
from omibench.settings.pictures.derived import locate_pictures
from omibench.settings.present import Around, present
from omibench.settings.tools.loop import next_turn


class Task(NamedTuple):
    """One sample of a question under a setting. Image paths are relative to `folder`.

    `examples` are the candidates for in-context examples; `sample` counts the draws; `first` is its
    first step if that is already known.
    """

    question: Question
    setting: Setting
    folder: Path
    examples: Sequence[Example] = ()
    sample: int = 0
    first: Step | None = None


class Ask(NamedTuple):
    """One conversation that a step needs an answer to.

    `model` None is the cell's own; otherwise one of the setting's helpers. An answer that is the
    same for all samples (a caption) is `shared`: it is requested once, as sample 0.
    """

    conversation: Conversation
    decoding: Decoding
    role: Role = "respondent"
    model: str | None = None
    shared: bool = False


Step = tuple[Ask, ...]
"""Requests sent at once. The last step of a task has one Ask, of the role `respondent`."""


def next_step(task: Task, earlier: Sequence[Sequence[Response]] = ()) -> Step:
    """Return the next step; empty if the last of the earlier responses answers the question.

    `earlier` contains the responses to each step so far, in the order of its asks. Raises
    ParamsError if the setting cannot be applied, with a remedy.
    """
    setting = task.setting
    if earlier and not setting.in_steps:
        return ()
    question = ablate(task.question, setting.without)
    first = [*_caption_asks(question, setting, task.folder), *_reading_asks(question, task)]
    if first and not earlier:
        return tuple(first)
    if len(earlier) > bool(first) and setting.tools is None:
        return ()
    texts = [response.text for response in earlier[0]] if first else []
    captions = texts if setting.images.show == "captions" else []
    if setting.perception:
        question = add_readings(question, setting.perception, texts)
    around = _around(task)
    conversation = present(question, setting, task.folder, captions, around)
    if setting.tools is None:
        return (Ask(conversation, setting.decoding),)
    responses = [response for step in earlier[bool(first) :] for response in step]
    folder = locate_pictures(task.folder) / "tools"
    turn = next_turn(conversation, setting.tools, folder, responses, setting.prompts)
    return () if turn is None else (Ask(turn, setting.decoding),)


def _around(task: Task) -> Around:
    lettered, params = bool(task.question.choices), task.setting.examples
    if params is None:
        return Around(lettered=lettered)
    examples = choose_examples(task.question, task.examples, params, task.sample)
    return show_examples(examples, task.setting, task.folder)._replace(lettered=lettered)


def _caption_asks(question: Question, setting: Setting, folder: Path) -> Iterator[Ask]:
    images = setting.images
    if images.show != "captions":
        return
    for index in range(len(question.images)):
        yield Ask(
            caption_conversation(question, index, folder, images.prompt),
            CAPTION_DECODING,
            role="captioner",
            model=images.model,
            shared=True,
        )


def _reading_asks(question: Question, task: Task) -> Iterator[Ask]:
    if not task.setting.perception:
        return
    once = task.setting.decoding.model_copy(update={"samples": 1})
    reader = task.setting.perception.by
    for conversation in readings(question, task.setting, task.folder):
        yield Ask(conversation, once, role="perceiver", model=reader, shared=True)
