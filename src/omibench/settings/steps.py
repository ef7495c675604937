"""Steps: what a setting asks next, given what was answered before (design, section 6).

Most settings ask once. Others ask a captioner first, or have the model read a picture before it
solves the problem, or let it look again through tools. Each is a pure function from a task and
the earlier responses to the next step; an empty step means that the last response is the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.problem import Question
from omibench.request import Conversation, Decoding, Response, Role
from omibench.setting_params import Setting
from omibench.settings.captions import DECODING as CAPTION_DECODING
from omibench.settings.captions import caption_conversation, caption_instructions
from omibench.settings.present import present


class Task(NamedTuple):
    """A question under a setting. Image paths are relative to `folder`; `pool` has all questions.

    `examples` that are shown before a question are taken from the pool, never itself or a sibling.
    """

    question: Question
    setting: Setting
    folder: Path
    pool: Sequence[Question] = ()


class Ask(NamedTuple):
    """One conversation that a step needs an answer to.

    `model` None is the cell's own; another is one of the setting's helpers. An answer that is the
    same for all samples (a caption) is `shared`: it is asked for once, as sample 0.
    """

    conversation: Conversation
    decoding: Decoding
    role: Role = "respondent"
    model: str | None = None
    shared: bool = False


Step = tuple[Ask, ...]
"""What is asked at once. The last step of a task has one Ask, of the role `respondent`."""


def next_step(task: Task, earlier: Sequence[Sequence[Response]] = ()) -> Step:
    """What to ask next; empty when the last of the earlier responses answers the question.

    `earlier` holds the responses to each step so far, in the order of its asks. Raises
    ParamsError when the setting cannot be used, with the setting's remedy.
    """
    captions: list[str] = []
    if task.setting.images.show == "captions" and task.question.images:
        if not earlier:
            return _caption_asks(task)
        captions, earlier = [response.text for response in earlier[0]], earlier[1:]
    if earlier:
        return ()
    conversation = present(task.question, task.setting, task.folder, captions)
    return (Ask(conversation, task.setting.decoding),)


def _caption_asks(task: Task) -> Step:
    images = task.setting.images
    instructions = caption_instructions(images.prompt)
    return tuple(
        Ask(
            caption_conversation(task.question, index, task.folder, instructions),
            CAPTION_DECODING,
            role="captioner",
            model=images.model,
            shared=True,
        )
        for index in range(len(task.question.images))
    )
