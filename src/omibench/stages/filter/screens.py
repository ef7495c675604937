"""Screens: models try a problem with or without a handicap; solved problems are rejected.

`one_image` and `captions` test whether a problem needs all its images, or any (OMIBench, E.3; EMMA,
3.2 and C.1): one model that is right often enough rejects it. `difficulty` tests whether it is too
easy: all models must be right. A screen is a setting like those of a study, so its requests and
images are made by the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.params.filtering.screens import ScreenParams
from omibench.schemas.problem import Problem, strip_answer
from omibench.schemas.rejects import FilterJudgement
from omibench.scorers.problem_response import score_problem
from omibench.settings.rounds import AnsweredTask, run_tasks
from omibench.settings.steps import Task
from omibench.stages.filter.judged import JudgedProblem, simulated_note
from omibench.stages.filter.models import Models

_PRESENTATION = {
    "one_image": "shown the first of {images} images alone",
    "captions": "given captions instead of the {images} images",
    "difficulty": "shown everything",
}


class _Screen(NamedTuple):
    name: str
    params: ScreenParams
    folder: Path
    study: str


def apply_screen(
    problems: Sequence[Problem], name: str, folder: Path, params: ScreenParams, models: Models
) -> list[JudgedProblem]:
    """Return every problem after the models of the screen `name` have tried it, in order.

    Models run in sequence, and only on undecided problems: for `difficulty` those that all earlier
    models have solved, otherwise those that none has. Image paths are relative to `folder`.

    Raises:
        ModelError: A request has no answer.
    """
    screen = _Screen(name, params, folder, models.study.study.name)
    judgements: dict[str, list[FilterJudgement]] = {problem.id: [] for problem in problems}
    open_problems = [p for p in problems if _can_be_tried(name, p)]
    for model in params.models:
        tried = _try_problems(screen, model, open_problems, models)
        for problem in open_problems:
            judgements[problem.id] += tried[problem.id]
        solvers = {id_ for id_, rows in tried.items() if _is_solved(rows, params)}
        must_be_solved = name == "difficulty"
        open_problems = [p for p in open_problems if (p.id in solvers) == must_be_solved]
    return [
        JudgedProblem(p, judgements[p.id], _evidence(screen, p, judgements[p.id])) for p in problems
    ]


def _can_be_tried(name: str, problem: Problem) -> bool:
    # With fewer than two images, there is no handicap.
    fewest_images = {"one_image": 2, "captions": 1}.get(name, 0)
    return bool(problem.answer) and len(problem.images) >= fewest_images


def _try_problems(
    screen: _Screen, model: str, problems: Sequence[Problem], models: Models
) -> dict[str, list[FilterJudgement]]:
    setting = screen.params.setting(screen.name)
    tasks = [
        Task(strip_answer(problem), setting, screen.folder, sample=sample)
        for problem in problems
        for sample in range(screen.params.samples)
    ]
    ended = run_tasks(tasks, model, screen.name, screen.study, models.ask)
    size = screen.params.samples
    attempts = [ended[i : i + size] for i in range(0, len(ended), size)]
    return {
        problem.id: _rows(screen, model, problem, answered)
        for problem, answered in zip(problems, attempts, strict=True)
    }


def _rows(
    screen: _Screen, model: str, problem: Problem, ended: Sequence[AnsweredTask]
) -> list[FilterJudgement]:
    """Return the captioner's reply, if any, and the model's answer."""
    verdicts = [score_problem(problem, answered.last.response) for answered in ended]
    helpers = [request for step in ended[0].steps[:-1] for request in step]
    rows = []
    if helpers:
        rows.append(
            FilterJudgement(
                id=problem.id,
                judgement=screen.name,
                model=helpers[0].model,
                role=helpers[0].request.tags.role,
                asked=len(helpers),
                answers=[request.response.text for request in helpers],
                keys=[request.key for request in helpers],
                simulated=any(request.response.simulated for request in helpers),
            )
        )
    rows.append(
        FilterJudgement(
            id=problem.id,
            judgement=screen.name,
            model=model,
            role="respondent",
            asked=len(ended),
            right=sum(verdict.verdict == 1 for verdict in verdicts),
            answers=[verdict.extracted or verdict.outcome for verdict in verdicts],
            keys=[answered.last.key for answered in ended],
            simulated=any(answered.last.response.simulated for answered in ended),
        )
    )
    return rows


def _is_solved(rows: Sequence[FilterJudgement], params: ScreenParams) -> bool:
    return any((row.right or 0) >= params.right for row in rows)


def _evidence(
    screen: _Screen, problem: Problem, judgements: Sequence[FilterJudgement]
) -> str | None:
    answers = [row for row in judgements if row.role == "respondent"]
    solvers = [row for row in answers if _is_solved([row], screen.params)]
    needed = len(screen.params.models) if screen.name == "difficulty" else 1
    if len(solvers) < needed:
        return None
    presentation = _PRESENTATION[screen.name].format(images=len(problem.images))
    counts = ", ".join(f"{row.model} {row.right} of {row.asked} right" for row in answers)
    quorum = "every model" if screen.name == "difficulty" else "one model"
    return (
        f"{presentation}: {counts}; at least {screen.params.right} by {quorum} reject it"
        f"{simulated_note(judgements)}"
    )
