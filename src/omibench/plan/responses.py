"""The responses of a cell for a plan: stored ones, and placeholders for the missing ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.cost.estimate import EXPECTED_SHARE
from omibench.errors import OmibenchError
from omibench.params.cell import Cell
from omibench.plan.rows import PlanRow
from omibench.plan.view import GUESS, StudyView, filler
from omibench.schemas.problem import Answer
from omibench.schemas.tables import ResponseRow, VerdictRow
from omibench.settings.rounds import AnsweredTask
from omibench.stages.infer.rows import make_row
from omibench.stages.judge.material import read_verdicts


class Expected(NamedTuple):
    """One response of a cell; if it is missing in the store, `row` has placeholder text."""

    row: ResponseRow
    stored: bool


def expect_responses(
    view: StudyView, cell: Cell, paths: Sequence[AnsweredTask], cell_row: PlanRow
) -> list[Expected]:
    """Return the response of every task of a cell, in order.

    Placeholder text has the expected length of responses to `cell_row`, the cell's row, and differs
    between tasks as responses do.
    """
    expected = cell_row.estimate.output / max(1, cell_row.to_buy)
    expected = expected or EXPECTED_SHARE * view.study.settings[cell.setting].decoding.max_tokens
    words, reads = filler(int(expected)), view.study.settings[cell.setting].reads
    expected_responses = []
    for path in paths:
        if path.last.response.provider_id != GUESS:
            expected_responses.append(Expected(make_row(path), stored=True))
            continue
        id, index = path.task.question.id, path.task.sample
        text = f"{cell.model} {cell.setting} {id} {index} {words}"
        readings = [f"{cell.model} {id} {words}"] if reads else None
        row = ResponseRow(
            id=id, index=index, key="", outcome="answered", text=text, readings=readings
        )
        expected_responses.append(Expected(row, stored=False))
    return expected_responses


def find_answer(view: StudyView, id: str) -> Answer:
    """Return the frozen answer to a problem, or an empty one of its kind if it is missing."""
    question = view.questions_by_id[id]
    return view.answers.get(id) or Answer(
        id=id, answer=[""], answer_type=question.answer_type, choices=question.choices
    )


def find_verdicts(view: StudyView, cell: Cell, rules: str | None) -> dict[str, VerdictRow]:
    """Return key of a response -> its verdict under a scorer, for scored responses.

    With `rules` None, the first scorer of the file. Unreadable values count as unknown.
    """
    path = Path(view.study.study.results) / "score" / cell.model / f"{cell.setting}.parquet"
    if not path.is_file():
        return {}
    try:
        return {row.key: row for row in read_verdicts(path, rules).values()}
    except OmibenchError:
        return {}
