"""Studies in Python: their parameters, and a plan of their requests and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from omibench.api.arguments import check_instance, check_kind, check_path
from omibench.errors import ArgumentError, MissingInputError
from omibench.params.setting import Setting
from omibench.params.study import Study
from omibench.schemas.problem import Example, Question
from omibench.schemas.request import Conversation, Response
from omibench.settings.present import check_needs
from omibench.settings.steps import Task, next_step
from omibench.study.plan.build import plan_study as plan_cells
from omibench.study.plan.plan import Plan
from omibench.study.plan.questions import plan_questions
from omibench.study.plan.rehearsal import rehearse
from omibench.study.plan.study_file import read_study
from omibench.study.plan.text import render


def load_study(
    params: str | Path | Mapping[str, object] = "params.yaml",
    *,
    overrides: Mapping[str, object] | None = None,
) -> Study:
    """Load a study's parameters.

    Examples:
        >>> study = omibench.load_study("studies/emma_recorded.yaml", overrides={"data": "emma"})
        >>> study.settings["cot"].decoding.samples
        1

    Args:
        params: Path of a params.yaml, or its blocks as a mapping.
        overrides: Top-level keys that replace those of the file.

    Returns:
        The study: its blocks are attributes, and `cells` lists its models under their settings. It
        is the rehearsal, with simulated models, if the parameters set `simulated: true`.

    Raises:
        ArgumentError: If an argument has the wrong type.
        ParamsError: If the file cannot be read, or a key or value is invalid; gives the line and
            a correction.
    """
    if overrides is not None:
        check_kind("overrides", overrides, Mapping, "give a mapping of top-level keys")
    if isinstance(params, Mapping):
        return read_study(params, overrides, source="overrides")
    if not isinstance(params, str | PathLike) or not str(params):
        raise ArgumentError(
            f"params: is {params!r}; give the path of a params.yaml, or its blocks as a mapping"
        )
    return read_study(Path(params), overrides, source="overrides")


def plan_study(study: Study, questions: str | Path | None = None) -> Plan:
    """Plan a study: requests, tokens, dollars and hours of each cell. Sends nothing.

    Examples:
        >>> plan = omibench.plan_study(omibench.load_study("params.yaml"))
        >>> sum(row.to_buy for row in plan.rows)
        216

    Args:
        study: Study returned by `load_study`.
        questions: Frozen questions; by default those in the study's results or, before they are
            frozen, the problems in `data`, the latest ones of papers, or generated ones: `over` of
            the plan says which.

    Returns:
        One row for each model that a cell calls, its budget and its detectable difference.

    Raises:
        ArgumentError: If an argument has the wrong type.
        MissingInputError: If the dataset is not frozen yet and its data cannot be read.
        ModelError: If the parameters of a model contradict each other.
    """
    check_kind("study", study, Study, "give the result of omibench.load_study")
    study = rehearse(study)
    if questions is not None:
        path = check_path("questions", questions)
        if not path.is_file():
            raise MissingInputError(f"{path}: the file does not exist; give frozen questions")
        return plan_cells(study, path)
    return plan_questions(study)


def describe_plan(plan: Plan) -> str:
    """Format a plan as `omibench plan` prints it: a table, its totals, and notes.

    Args:
        plan: Plan returned by `plan_study`.

    Returns:
        Lines of text.

    Raises:
        ArgumentError: If it is not a plan.
    """
    check_kind("plan", plan, Plan, "give the result of omibench.plan_study")
    return render(plan)


# The conversation that a setting sends to a model.


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
