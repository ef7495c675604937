"""One cell of the study: a model answers every question under a setting."""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path

from omibench.ask import open_asker
from omibench.errors import MissingInputError, ModelError
from omibench.infer.closing import closing_line
from omibench.model_params import RecordedModel
from omibench.models.open import open_provider
from omibench.models.provider import Provider
from omibench.models.recorded import RecordedProvider
from omibench.problem import Question
from omibench.request import Request, Response, Tags
from omibench.settings.present import present
from omibench.study import Cell, Study
from omibench.tables import ResponseRow, read_jsonl, write_parquet

log = logging.getLogger("omibench.infer")


def infer_cell(questions: Path, out: Path, study: Study, cell: Cell) -> int:
    """Ask every question of `questions` (questions.jsonl) and write one ResponseRow a response.

    Rows stand in the order of the questions, samples of one question together. Returns how many
    there are. Requests without an answer are rows of their outcome, never of a made-up text, and a
    warning says what finishing the cell takes. Raises MissingInputError without a frozen dataset
    or its images, ModelError when the model cannot answer.
    """
    with open_asker(study, cell.model) as asker:
        requests = requests_of(questions, study, cell, asker.provider)
        answers = asker.keyed(requests)
        pairs = [(r, response) for r, (_, response) in zip(requests, answers, strict=True)]
        rows = [
            _row(r, key, response) for r, (key, response) in zip(requests, answers, strict=True)
        ]
        write_parquet(out, rows, ResponseRow)
        if closing := closing_line(study, cell, out, asker, pairs):
            log.warning("omibench: %s", closing)
    return len(rows)


def provider_of(study: Study, model: str) -> Provider:
    """The provider of one of the study's models."""
    return open_provider(model, study.models[model], study.data)


def requests_of(
    questions: Path, study: Study, cell: Cell, provider: Provider | None = None
) -> list[Request]:
    """Every request of a cell: each question in order, each sample of it in turn.

    A recorded model that lacks a response raises ModelError, unless it is `partial`: then what it
    lacks is left out.
    """
    setting = study.settings[cell.setting]
    requests = []
    for question in load_questions(questions):
        conversation = present(question, setting, folder=questions.parent)
        if conversation is None:
            continue
        tags = Tags(
            role="respondent", problem=question.id, study=study.study.name, setting=cell.setting
        )
        requests += [
            Request(conversation=conversation, decoding=setting.decoding, index=index, tags=tags)
            for index in range(setting.decoding.samples)
        ]
    model = study.models[cell.model]
    if isinstance(model, RecordedModel):
        return _recorded(requests, provider or provider_of(study, cell.model), model.partial)
    return requests


def load_questions(questions: Path) -> tuple[Question, ...]:
    """The frozen questions, read once for each version of the file.

    Raises MissingInputError with the command that makes them when there are none.
    """
    try:
        state = questions.stat()
    except OSError:
        raise MissingInputError(
            f"{questions}: there is no frozen dataset yet; make it with "
            f"`snakemake --cores all {questions}`"
        ) from None
    return _read(questions, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read(questions: Path, modified_ns: int, size: int) -> tuple[Question, ...]:
    return tuple(read_jsonl(questions, Question))


def _recorded(requests: list[Request], provider: Provider, partial: bool) -> list[Request]:
    if not isinstance(provider, RecordedProvider):
        raise TypeError(f"a recorded model needs its own provider, not {type(provider).__name__}")
    held = [request for request in requests if provider.holds(request)]
    if len(held) == len(requests) or (partial and held):
        return held
    lacking = [request for request in requests if not provider.holds(request)]
    raise ModelError(provider.lacks(lacking, len(requests)))


def _row(request: Request, key: str, response: Response) -> ResponseRow:
    return ResponseRow(
        id=request.tags.problem,
        index=request.index,
        key=key,
        outcome=response.outcome,
        text=response.text,
        reasoning=response.reasoning,
        finish_reason=response.finish_reason,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        cost_usd=response.cost_usd,
        latency_s=response.latency_s,
        simulated=response.simulated,
        published_verdict=response.published_verdict,
        served_model=response.served_model,
        error=response.error,
    )
