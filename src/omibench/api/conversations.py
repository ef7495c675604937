"""The conversation that a setting sends to a model."""

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
    """Build the conversation that a setting sends to a model for a question.

    Examples:
        >>> question = {"id": "q1", "question": "What is 2 + 2?"}
        >>> print(omibench.build_conversation(question, {"prompt": "direct"}).text)
        Return only the final answer...

    Args:
        question: Question of a release, or a mapping of its fields.
        setting: Setting of a study, or a mapping as under `settings:` in params.yaml.
        folder: Folder of the release; paths of pictures are relative to it.
        helped_by: Captions or readings in order, for a setting that requests them first.
        examples: Solved problems that the setting can show.
        sample: Index of the sample, from 0; samples can show different examples.

    Returns:
        The messages with text and pictures in order. For a setting with tools, the first turn.

    Raises:
        ArgumentError: If an argument has the wrong type, or the length of `helped_by` does not
            match the setting.
        ParamsError: If the question lacks an input that the setting needs, or a prompt is missing.
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
    check_kind("sample", sample, int, "give a number of at least 0")
    if sample < 0:
        raise ArgumentError(f"sample: is {sample}; give a number of at least 0")
    for place, example in enumerate(examples):
        check_kind(f"examples[{place}]", example, Example, "give rows of examples.jsonl")
    check_needs("setting", block, [checked], examples)
    task = Task(checked, block, check_path("folder", folder), examples, sample)
    step = next_step(task)
    helpers = [ask for ask in step if ask.role != "respondent"]
    if len(helped_by) != len(helpers):
        roles = f"{helpers[0].role} texts" if helpers else "nothing"
        raise ArgumentError(
            f"helped_by: has {len(helped_by)} texts, but the setting requests "
            f"{len(helpers)} ({roles}) first; give one text for each"
        )
    if helpers:
        step = next_step(task, [[Response(text=text) for text in helped_by]])
    return step[0].conversation
