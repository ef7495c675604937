"""The responses of a cell for a plan: stored ones, and placeholders for the missing ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import OmibenchError
from omibench.models.cost import EXPECTED_SHARE
from omibench.models.provider import ChecksOptions
from omibench.params.setting import Cell
from omibench.results.study_files import StudyFiles
from omibench.schemas.problem import Answer
from omibench.schemas.tables import ResponseRow, VerdictRow
from omibench.settings.pictures import without_drawing
from omibench.settings.steps import AnsweredTask
from omibench.stages.infer.stage import make_row
from omibench.stages.judge.material import read_verdicts
from omibench.stages.saliency.ask import Occlusion, UnscoredProblem
from omibench.stages.saliency.stage import ReadResponse, make_occlusions
from omibench.study.plan.plan import GUESS, PlanRow, Step, StudyView, filler


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
    path = StudyFiles(Path(view.study.study.results)).locate("score", cell)
    if not path.is_file():
        return {}
    try:
        return {row.key: row for row in read_verdicts(path, rules).values()}
    except OmibenchError:
        return {}


# The requests of the saliency analysis: one per position of the patch on each picture.


def list_saliency_steps(
    view: StudyView, cell: Cell, paths: Sequence[AnsweredTask]
) -> Iterator[Step]:
    """List every request of a cell with a saliency analysis.

    Args:
        view: The study and its store.
        cell: The model and the setting.
        paths: The paths of the cell's responses.

    Yields:
        The requests. Those that follow a missing response, or show a picture that is not drawn yet,
        are guessed.

    Raises:
        ModelError: The model scores no options, or none inside a response.
    """
    first = {p.task.question.id: p for p in paths if p.task.sample == 0}
    responses = {name: _read_response(path) for name, path in first.items()}
    provider = view.open_provider(cell.model)
    with without_drawing():
        for problem in make_occlusions(view.questions, view.study, cell, responses):
            if isinstance(problem, UnscoredProblem):
                continue
            if isinstance(provider, ChecksOptions):
                provider.check_options([problem.base])
            guessed = _is_guess(first[problem.question.id]) or not _is_drawn(problem)
            for request in problem.requests:
                yield Step(cell.model, "scorer", "", request, guessed)


def _read_response(path: AnsweredTask) -> ReadResponse:
    response = path.last.response
    if not _is_guess(path):
        return ReadResponse(response.outcome, response.text)
    # The final option does not change the number of requests.
    choices = path.task.question.choices or []
    label = choices[0].label if choices else ""
    return ReadResponse("answered", f"{response.text}\nThe answer is {label}.")


def _is_guess(path: AnsweredTask) -> bool:
    return path.last.response.provider_id == GUESS


def _is_drawn(problem: Occlusion) -> bool:
    return all(Path(picture.path).is_file() for picture in problem.pictures)
