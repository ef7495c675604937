"""Input of a log: the responses and verdicts of one cell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl
from inspect_ai.log import EvalError, EvalSample, condense_sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.scorer import Score

from omibench.datasets.eval_logs.messages import PictureSource, write_answer_message, write_choice
from omibench.datasets.formats.record import CAPITALS
from omibench.errors import FileFormatError
from omibench.params.setting import Cell
from omibench.results.study_files import StudyFiles
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import NOT_BOUGHT
from omibench.stages.analyze.formatting import name_outcome

Values = dict[str, Any]


@dataclass(frozen=True)
class CellRows:
    """Responses and verdicts of one cell.

    Attributes:
        cell: The cell.
        responses: One row per response, by problem and sample.
        verdicts: One row per verdict, with `counts`; empty if the cell is not scored yet.
        aggregate: How the setting chose the sample that counts: `first`, `majority`, ...; `mean`
            if every sample counts.
        written: Time at which the responses were written, in UTC.
    """

    cell: Cell
    responses: pl.DataFrame
    verdicts: pl.DataFrame
    aggregate: str
    written: datetime

    @property
    def simulated_responses(self) -> int:
        """Number of responses by a simulated model."""
        return int(self.responses["simulated"].sum())

    @property
    def simulated_verdicts(self) -> int:
        """Number of verdicts on simulated responses or by a simulated judge."""
        return int(self.verdicts["simulated"].sum())

    def join_rows(self) -> Iterator[tuple[Values, list[Values]]]:
        """Yield each response with its verdicts in the order of scorers."""
        by_sample: dict[tuple[str, int], list[Values]] = {}
        for verdict in self.verdicts.iter_rows(named=True):
            by_sample.setdefault((verdict["id"], verdict["index"]), []).append(verdict)
        for response in self.responses.iter_rows(named=True):
            yield response, by_sample.get((response["id"], response["index"]), [])


def read_cell_rows(files: StudyFiles, cell: Cell) -> CellRows:
    """Read the responses and verdicts of one cell.

    Args:
        files: The study.
        cell: The cell.

    Raises:
        MissingInputError: If the study has no such cell; lists the existing ones.
        FileFormatError: If a file cannot be read or the problem of a response is unknown.
        UntrustedError: If a file was edited or exchanged.
    """
    files.check_cell(cell)
    responses = files.read_responses(cell)
    path = files.locate("infer", cell)
    for problem in responses["id"].unique(maintain_order=True):
        if problem not in files.questions or problem not in files.answers:
            raise FileFormatError(
                f"{path}: the response to {problem[:80]!r} belongs to no problem of "
                f"{files.locate('freeze')}; run this cell again"
            )
    # A cell that is still being scored gets a log without scores.
    verdicts = files.read_verdicts(cell, responses) if files.is_scored(cell) else files.no_verdicts
    return CellRows(
        cell=cell,
        responses=responses,
        verdicts=verdicts.sort("id", "index", "rules"),
        aggregate=files.find_aggregate(cell)[0],
        written=datetime.fromtimestamp(path.stat().st_mtime, UTC),
    )


# A response as an Inspect sample: request, response, and a score for each verdict.

_STOPPED: Final[Mapping[str, StopReason]] = {"truncated": "max_tokens", "refused": "content_filter"}
_PROVENANCE: Final = ("rules", "version", "method", "outcome", "credit", "strict", "ratio",
                      "judge", "judge_key", "prompt_sha256")  # fmt: skip


@dataclass(frozen=True)
class SampleRows:
    """Data of one response.

    Attributes:
        question: The problem.
        answer: Its gold answer.
        response: Row of the response.
        verdicts: Rows of its verdicts.
        model: Model name in the log.
    """

    question: Question
    answer: Answer
    response: Values
    verdicts: Sequence[Values]
    model: str


def write_sample(
    rows: SampleRows, sent: Sequence[ChatMessage], pictures: PictureSource
) -> EvalSample:
    """Return one response as an `EvalSample`.

    Args:
        rows: Data of the response.
        sent: Messages of the request.
        pictures: Source of the pictures drawn by the model.

    Returns:
        The sample, with its pictures as attachments. The gold answer is a list of parts, all of
        which are required.
    """
    question, response, model = rows.question, rows.response, rows.model
    answer = write_answer_message(
        response["text"], response["reasoning"], response["drawn"] or [], model, pictures
    )
    failed = response["outcome"] in NOT_BOUGHT
    usage = _write_usage(response)
    latency = _drop_infinite(response["latency_s"])
    return condense_sample(EvalSample(
        id=question.id,
        epoch=response["index"] + 1,
        input=list(sent),
        choices=[write_choice(choice) for choice in question.choices or []] or None,
        target=rows.answer.answer,
        messages=[*sent, answer],
        output=ModelOutput(
            model=response["served_model"] or model,
            choices=[ChatCompletionChoice(message=answer, stop_reason=_find_stop_reason(response))],
            usage=usage,
            time=latency,
            metadata={"finish_reason": response["finish_reason"]},
            error=response["error"],
        ),
        scores={row["rules"]: _write_score(row) for row in rows.verdicts if row["counts"]},
        metadata=_list_facts(question, rows.answer, response) | _list_others(rows.verdicts),
        model_usage={model: usage} if usage else {},
        total_time=latency,
        working_time=latency,
        uuid=f"{response['key'][:32]}-{response['index']}",
        error=_write_error(response) if failed else None,
    ))  # fmt: skip


def _drop_infinite(number: float | None) -> float | None:
    """Return the number, or None if JSON cannot represent it."""
    return number if number is not None and math.isfinite(number) else None


def _write_usage(response: Values) -> ModelUsage | None:
    """Return the tokens and dollars of a response; None if no tokens were reported."""
    if response["output_tokens"] is None:
        return None
    read = response["input_tokens"] or 0
    return ModelUsage(
        input_tokens=read,
        output_tokens=response["output_tokens"],
        total_tokens=read + response["output_tokens"],
        reasoning_tokens=response["reasoning_tokens"],
        total_cost=_drop_infinite(response["cost_usd"]),
    )


def _find_stop_reason(response: Values) -> StopReason:
    if response["outcome"] in _STOPPED:
        return _STOPPED[response["outcome"]]
    is_done = response["outcome"] == "answered" and response["finish_reason"] is not None
    return "stop" if is_done else "unknown"


def _write_score(row: Values) -> Score:
    outcome = name_outcome(row["outcome"])
    judge = f", {row['judge']}" if row["judge"] else ""
    facts = {name: row[name] for name in _PROVENANCE if row[name] is not None}
    return Score(
        value=row["verdict"],
        answer=row["extracted"],
        explanation=f"{outcome}: {row['method']}{judge}",
        metadata=facts | _mark_simulated(row),
    )


def _list_others(verdicts: Sequence[Values]) -> Values:
    """Return the verdicts on a sample that does not count, which must not be scores."""
    others = {row["rules"]: _write_score(row) for row in verdicts if not row["counts"]}
    return {"verdicts_that_do_not_count": others} if others else {}


def _list_facts(question: Question, answer: Answer, response: Values) -> Values:
    labels = [choice.label for choice in question.choices or []]
    has_usual_labels = labels == list(CAPITALS[: len(labels)])
    stated = {
        "subject": question.subject,
        "group": question.group,
        "topic": answer.topic,
        "licence": question.licence,
        "choice_labels": None if has_usual_labels else labels,
        "outcome": response["outcome"],
        "key": response["key"],
        "steps": response["steps"],
    }
    return {name: value for name, value in stated.items() if value} | _mark_simulated(response)


def _mark_simulated(row: Values) -> Values:
    return {"simulated": True} if row["simulated"] else {}


def _write_error(response: Values) -> EvalError:
    message = response["error"] or name_outcome(response["outcome"])
    return EvalError(message=message, traceback="", traceback_ansi="")
