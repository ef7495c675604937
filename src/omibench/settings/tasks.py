"""The requests of a cell: a task for every sample of every frozen question."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import MissingInputError, ModelError
from omibench.models.provider import Provider
from omibench.models.registry import open_provider
from omibench.params.models.providers import RecordedModel
from omibench.params.setting import Cell
from omibench.params.study_params import apply_limit
from omibench.schemas.problem import Example, Question
from omibench.schemas.request import Request
from omibench.schemas.tables import read_jsonl
from omibench.settings.present import asked_questions, check_needs
from omibench.settings.steps import Task, requests_next

if TYPE_CHECKING:
    from omibench.params.study import Study


def open_model_provider(study: Study, model: str) -> Provider:
    """Return the provider of one of the study's models."""
    return open_provider(model, study.models[model], study.data)


def list_tasks(
    questions: Path, study: Study, cell: Cell, provider: Provider | None = None
) -> list[Task]:
    """List every sample of every question of a cell, question by question.

    A study with a `limit` includes only part of the questions; if it leaves none of those of the
    setting's `where`, there are no tasks.

    A recorded model that lacks a response raises ModelError, unless it is `partial`: then its
    missing responses are skipped.
    """
    setting, folder = study.settings[cell.setting], questions.parent
    examples = load_examples(folder) if setting.examples else ()
    every = load_questions(questions)
    remaining = asked_questions(apply_limit(every, study.study.limit), setting, examples)
    if not remaining and asked_questions(every, setting, examples):
        return []  # the limit leaves nothing
    check_needs(cell.setting, setting, remaining, examples)
    draws = range(setting.decoding.samples)
    tasks = [Task(q, setting, folder, examples, n) for q in remaining for n in draws]
    model = study.models[cell.model]
    if not isinstance(model, RecordedModel):
        return tasks
    from omibench.models.recorded import RecordedProvider

    provider = provider or open_model_provider(study, cell.model)
    if not isinstance(provider, RecordedProvider):
        raise TypeError(f"a recorded model needs its own provider, not {type(provider).__name__}")
    lacking: list[Request] = []
    recorded = []
    for task in tasks:
        missing = [r for r in list_first_requests(task, study, cell) if not provider.holds(r)]
        lacking += missing
        if not missing:
            recorded.append(task)
    if lacking and not (model.partial and recorded):
        raise ModelError(provider.describe_missing(lacking, len(tasks)))
    return recorded


def list_requests(
    questions: Path, study: Study, cell: Cell, provider: Provider | None = None
) -> list[Request]:
    """List the first requests of a cell to its own model, sample by sample.

    These are all its requests, unless its setting has several steps.
    """
    tasks = list_tasks(questions, study, cell, provider)
    return [request for task in tasks for request in list_first_requests(task, study, cell)]


def list_first_requests(task: Task, study: Study, cell: Cell) -> list[Request]:
    """List the requests of one task to the cell's own model in its first step."""
    step_requests = requests_next(task, [], cell.setting, study.study.name)
    return [request for model, request in step_requests if model in (None, cell.model)]


def load_examples(folder: Path) -> tuple[Example, ...]:
    """Load the solved problems frozen with the questions. Raises MissingInputError without them."""
    file = folder / "examples.jsonl"
    try:
        return tuple(read_jsonl(file, Example))
    except MissingInputError:
        raise MissingInputError(
            f"{file}: no examples; set `freeze.examples` to the problems to use, and freeze again"
        ) from None


def load_questions(questions: Path) -> tuple[Question, ...]:
    """Load the frozen questions, read once for each version of the file.

    Raises MissingInputError with the command that creates them if they do not exist.
    """
    try:
        state = questions.stat()
    except OSError:
        raise MissingInputError(
            f"{questions}: the dataset is not frozen yet; run `snakemake --cores all freeze_all`, "
            "which creates RESULTS/freeze/questions.jsonl"
        ) from None
    return _read_questions(questions, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read_questions(questions: Path, modified_ns: int, size: int) -> tuple[Question, ...]:
    return tuple(read_jsonl(questions, Question))
