"""The requests of the saliency analysis: one per position of the patch on each picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from omibench.models.provider import ChecksOptions
from omibench.params.cell import Cell
from omibench.plan.view import GUESS, Step, StudyView
from omibench.settings.pictures.made import without_drawing
from omibench.settings.rounds import AnsweredTask
from omibench.stages.saliency.ask import Occlusion, UnscoredProblem
from omibench.stages.saliency.stage import ReadResponse, make_occlusions


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
