"""The responses of a cell as a plan sees them: the store's, and stand-ins for those to come."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.cost.estimate import EXPECTED_SHARE
from omibench.errors import OmibenchError
from omibench.params.cell import Cell
from omibench.plan.rows import Row
from omibench.plan.view import GUESS, Desk, filler
from omibench.schemas.problem import Answer
from omibench.schemas.tables import ResponseRow, VerdictRow
from omibench.settings.rounds import Answered
from omibench.stages.infer.rows import make_row
from omibench.stages.judge.material import read_verdicts


class Expected(NamedTuple):
    """One response of a cell; where the store does not hold it yet, `row` has made-up words."""

    row: ResponseRow
    stored: bool


def responses_of(desk: Desk, cell: Cell, paths: Sequence[Answered], asked: Row) -> list[Expected]:
    """The response of every thread of a cell, in the order of the threads.

    Made-up words are as long as the responses to the requests of `asked`, the cell's row, are
    expected to be, and differ from thread to thread as responses do.
    """
    expected = asked.estimate.output / max(1, asked.to_buy)
    expected = expected or EXPECTED_SHARE * desk.study.settings[cell.setting].decoding.max_tokens
    words = filler(int(expected))
    found = []
    for path in paths:
        if path.last.response.provider_id != GUESS:
            found.append(Expected(make_row(path), stored=True))
            continue
        id, index = path.thread.task.question.id, path.thread.sample
        text = f"{cell.model} {cell.setting} {id} {index} {words}"
        row = ResponseRow(id=id, index=index, key="", outcome="answered", text=text)
        found.append(Expected(row, stored=False))
    return found


def answer_of(desk: Desk, id: str) -> Answer:
    """The frozen answer to a problem, or an empty one of its kind where none is frozen."""
    question = desk.asked[id]
    return desk.answers.get(id) or Answer(
        id=id, answer=[""], answer_type=question.answer_type, choices=question.choices
    )


def verdicts_of(desk: Desk, cell: Cell, rules: str | None) -> dict[str, VerdictRow]:
    """Key of a response -> its verdict under a rule book, as far as the cell was scored.

    `rules` None is the first rule book of the file. What cannot be read is not known.
    """
    path = Path(desk.study.study.results) / "score" / cell.model / f"{cell.setting}.parquet"
    if not path.is_file():
        return {}
    try:
        return {row.key: row for row in read_verdicts(path, rules).values()}
    except OmibenchError:
        return {}
