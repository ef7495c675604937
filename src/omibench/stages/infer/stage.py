"""One cell of the study: a model answers every question under a setting."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path

from omibench.client.ask import Asker, open_asker
from omibench.errors import ImageCountError, MissingInputError, ModelError, PassingError
from omibench.models.provider import MakesRoom, Provider
from omibench.models.recorded.provider import RecordedProvider
from omibench.models.registry import open_provider
from omibench.params.cell import Cell
from omibench.params.limit import apply_limit
from omibench.params.models.recorded import RecordedModel
from omibench.params.stage_params import ConversationParams, InferStageParams
from omibench.schemas.cell_failure import failed_reason
from omibench.schemas.cell_origin import CellOrigin
from omibench.schemas.example import Example
from omibench.schemas.problem import Question
from omibench.schemas.request import Request
from omibench.schemas.tables import ResponseRow, read_jsonl, write_parquet
from omibench.settings.needs import asked_questions, check_needs, remark
from omibench.settings.rounds import Answered, Thread, requests_next, run_threads
from omibench.settings.steps import Task
from omibench.stages.infer.closing import describe_missing_answers
from omibench.stages.infer.rows import make_row

log = logging.getLogger("omibench.stages.infer")


def infer_cell(
    questions: Path, out: Path, study: InferStageParams, cell: Cell, job: str = ""
) -> int:
    """Ask every question of `questions` (questions.jsonl) and write one ResponseRow a response.

    Rows stand in the order of the questions, samples of one question together. Returns how many
    there are. Requests without an answer are rows of their outcome, never of a made-up text, and a
    warning says what finishing the cell takes. Raises MissingInputError without a frozen dataset
    or its images, ModelError when the model cannot answer, also when more of its requests ended in
    errors than `infer.failed_share` allows: then nothing is written, and the store keeps what was
    answered.
    """
    with open_askers(study, cell) as askers:
        respondent = askers[cell.model]
        threads = list_threads(questions, study, cell, respondent.provider)
        selected = apply_limit(load_questions(questions), study.study.limit)
        lacking = remark(cell.setting, study.settings[cell.setting], selected)
        if lacking:
            log.warning("omibench: %s", lacking)
        answered = run_cell(threads, study, cell, askers)
        rows = [make_row(thread) for thread in answered]
        failed = failed_reason(Counter(row.outcome for row in rows), study.infer.failed_share)
        if not failed:
            write_parquet(out, rows, ResponseRow, CellOrigin("infer", *cell, job))
        exchanges = {
            (a.model, a.key): a for thread in answered for step in thread.steps for a in step
        }
        closings: list[str] = []
        for name, asker in askers.items():
            pairs = [(a.request, a.response) for a in exchanges.values() if a.model == name]
            if closing := describe_missing_answers(
                study, Cell(name, cell.setting), out, asker, pairs
            ):
                closings.append(closing)
        if failed:
            raise _make_failure(cell, failed, closings, answered)
        for closing in closings:
            log.warning("omibench: %s", closing)
    return len(rows)


def _make_failure(
    cell: Cell, reason: str, closings: Sequence[str], answered: Sequence[Answered]
) -> ModelError:
    passing = any(thread.last.response.passing for thread in answered)
    line = f"{cell.model}/{cell.setting}: the cell has failed, {reason}; {'; '.join(closings)}"
    return PassingError(line) if passing else ModelError(line)


@contextmanager
def open_askers(study: ConversationParams, cell: Cell) -> Iterator[dict[str, Asker]]:
    """The cell's model and the helpers of its setting, ready to be asked.

    Raises ImageCountError when tools could show more pictures than the model takes.
    """
    names = dict.fromkeys([cell.model, *study.settings[cell.setting].helpers])
    with ExitStack() as stack:
        askers = {name: stack.enter_context(open_asker(study, name)) for name in names}
        _make_room(study, cell, askers[cell.model].provider)
        yield askers


def _make_room(study: ConversationParams, cell: Cell, provider: Provider) -> None:
    """Let a model know how many pictures tools may show in one conversation."""
    tools, limit = study.settings[cell.setting].tools, provider.max_images
    if tools is None:
        return
    if limit is not None and tools.images > limit:
        raise ImageCountError(
            f"setting {cell.setting!r}: its tools may show {tools.images} pictures in one "
            f"conversation and model {cell.model!r} takes {limit}: set `tools.images` to {limit}"
        )
    if isinstance(provider, MakesRoom):
        provider.expect_images(tools.images)


def run_cell(
    threads: Sequence[Thread], study: ConversationParams, cell: Cell, askers: Mapping[str, Asker]
) -> list[Answered]:
    """Take threads of a cell to their ends."""
    return run_threads(
        threads,
        cell.model,
        cell.setting,
        study.study.name,
        lambda model, requests: askers[model].ask_with_keys(requests),
    )


def open_model_provider(study: ConversationParams, model: str) -> Provider:
    """The provider of one of the study's models."""
    return open_provider(model, study.models[model], study.data)


def list_threads(
    questions: Path, study: ConversationParams, cell: Cell, provider: Provider | None = None
) -> list[Thread]:
    """Every sample of every question of a cell: each question in order, each sample in turn.

    A study with a `limit` asks a part of the questions.

    A recorded model that lacks a response raises ModelError, unless it is `partial`: then what it
    lacks is left out.
    """
    setting, folder = study.settings[cell.setting], questions.parent
    examples = load_examples(folder) if setting.examples else ()
    selected = apply_limit(load_questions(questions), study.study.limit)
    remaining = asked_questions(selected, setting, examples)
    check_needs(cell.setting, setting, remaining, examples)
    draws = range(setting.decoding.samples)
    threads = [Thread(Task(q, setting, folder, examples, n), n) for q in remaining for n in draws]
    model = study.models[cell.model]
    if isinstance(model, RecordedModel):
        return _keep_recorded(
            threads, study, cell, provider or open_model_provider(study, cell.model), model.partial
        )
    return threads


def list_requests(
    questions: Path, study: ConversationParams, cell: Cell, provider: Provider | None = None
) -> list[Request]:
    """What a cell asks of its own model to begin with, sample by sample.

    That is all that it asks, unless its setting goes in several steps.
    """
    threads = list_threads(questions, study, cell, provider)
    return [request for thread in threads for request in list_first_requests(thread, study, cell)]


def list_first_requests(thread: Thread, study: ConversationParams, cell: Cell) -> list[Request]:
    """What one thread asks of the cell's own model in its first step."""
    step_requests = requests_next(thread, [], cell.setting, study.study.name)
    return [request for model, request in step_requests if model in (None, cell.model)]


def load_examples(folder: Path) -> tuple[Example, ...]:
    """The solved problems beside the frozen questions. Raises MissingInputError without them."""
    file = folder / "examples.jsonl"
    try:
        return tuple(read_jsonl(file, Example))
    except MissingInputError:
        raise MissingInputError(
            f"{file}: there are no examples; say in `freeze.examples` which problems may be shown, "
            "and freeze again"
        ) from None


def load_questions(questions: Path) -> tuple[Question, ...]:
    """The frozen questions, read once for each version of the file.

    Raises MissingInputError with the command that makes them when there are none.
    """
    try:
        state = questions.stat()
    except OSError:
        raise MissingInputError(
            f"{questions}: there is no frozen dataset yet; make it with "
            "`snakemake --cores all freeze_all`, as RESULTS/freeze/questions.jsonl"
        ) from None
    return _read_questions(questions, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read_questions(questions: Path, modified_ns: int, size: int) -> tuple[Question, ...]:
    return tuple(read_jsonl(questions, Question))


def _keep_recorded(
    threads: list[Thread], study: ConversationParams, cell: Cell, provider: Provider, partial: bool
) -> list[Thread]:
    if not isinstance(provider, RecordedProvider):
        raise TypeError(f"a recorded model needs its own provider, not {type(provider).__name__}")
    thread_requests = [(thread, list_first_requests(thread, study, cell)) for thread in threads]
    recorded = [
        thread for thread, requests in thread_requests if all(map(provider.holds, requests))
    ]
    if len(recorded) == len(threads) or (partial and recorded):
        return recorded
    lacking = [r for _, requests in thread_requests for r in requests if not provider.holds(r)]
    raise ModelError(provider.describe_missing(lacking, len(threads)))
