"""What a model is asked: the conversation in which a setting puts a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omibench.api.arguments import check_instance, check_kind, check_path
from omibench.errors import ArgumentError
from omibench.params.setting import Setting
from omibench.schemas.example import Example
from omibench.schemas.problem import Question
from omibench.schemas.request import Conversation, Response
from omibench.settings.needs import check_needs
from omibench.settings.steps import Task, next_step


def build_conversation(
    question: Question | Mapping[str, Any],
    setting: Setting | Mapping[str, Any],
    *,
    folder: str | Path = ".",
    helped_by: Sequence[str] = (),
    examples: Sequence[Example] = (),
    sample: int = 0,
) -> Conversation:
    """Build the conversation that a model is sent when a setting asks a question.

    Example:
        >>> question = {"id": "q1", "question": "What is 2 + 2?"}
        >>> print(omibench.build_conversation(question, {"prompt": "direct"}).text)
        Return only the final answer...

    Args:
        question: A Question of a release, or a mapping of its fields.
        setting: A Setting of a study, or a mapping as under `settings:` in params.yaml.
        folder: The folder to which paths of pictures are relative: that of the release.
        helped_by: For a setting that asks for captions or readings first, their texts in order.
        examples: Solved problems that the setting may show.
        sample: Which draw it is for, from 0; another one may show other examples.

    Returns:
        Its messages, with text and pictures where they stand. Of tools it is the first turn.

    Raises:
        ArgumentError: An argument is of a wrong type, or `helped_by` has another length than
            what is asked first.
        ParamsError: The question lacks what the setting needs, or a prompt is not there.
    """
    checked = check_instance("question", question, Question)
    if isinstance(setting, str):
        raise ArgumentError(
            f"setting: is the text {setting!r}; give a Setting such as study.settings[{setting!r}],"
            " or a mapping of its fields"
        )
    block = check_instance("setting", setting, Setting)
    if isinstance(helped_by, str) or not all(isinstance(text, str) for text in helped_by):
        raise ArgumentError("helped_by: give a list of texts")
    check_kind("sample", sample, int, "give a number from 0 on")
    if sample < 0:
        raise ArgumentError(f"sample: is {sample}; give a number from 0 on")
    for place, example in enumerate(examples):
        check_kind(f"examples[{place}]", example, Example, "give rows of examples.jsonl")
    check_needs("setting", block, [checked], examples)
    task = Task(checked, block, check_path("folder", folder), examples, sample)
    step = next_step(task)
    helpers = [ask for ask in step if ask.role != "respondent"]
    if len(helped_by) != len(helpers):
        roles = f"{helpers[0].role} texts" if helpers else "nothing"
        raise ArgumentError(
            f"helped_by: holds {len(helped_by)} texts, and the setting asks first for "
            f"{len(helpers)} ({roles}): give one text for each"
        )
    if helpers:
        step = next_step(task, [[Response(text=text) for text in helped_by]])
    return step[0].conversation
