"""What looking into cells asks for: a request a place of each picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.params.cell import Cell
from omibench.plan.view import GUESS, Step, StudyView
from omibench.settings.pictures.made import without_drawing
from omibench.settings.rounds import Answered
from omibench.stages.saliency.stage import make_occlusions


def list_saliency_steps(view: StudyView, cell: Cell, paths: Sequence[Answered]) -> Iterator[Step]:
    """Every request of a cell that is looked into; `paths` are those of its responses.

    Those that follow a response which is not there yet are guessed.
    """
    first = {p.thread.task.question.id: p.last.response for p in paths if p.thread.sample == 0}
    after = cell.setting in view.study.saliency.after_response
    with without_drawing():
        texts = {name: response.text for name, response in first.items()}
        for looked in make_occlusions(view.questions, view.study, cell, lambda: texts):
            answered = first.get(looked.question.id)
            guessed = after and answered is not None and answered.provider_id == GUESS
            for request in looked.requests:
                yield Step(cell.model, "scorer", "", request, guessed)
