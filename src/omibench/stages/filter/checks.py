"""Screens: models try a problem with or without a handicap; solved problems are rejected.

`one_image` and `captions` test whether a problem needs all its images, or any (OMIBench, E.3; EMMA,
3.2 and C.1): one model that is right often enough rejects it. `difficulty` tests whether it is too
easy: all models must be right. A screen is a setting like those of a study, so its requests and
images are made by the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omibench.answers.scorers.registry import score_problem
from omibench.params.stages.filter import JUDGEMENT_REASONS, FilterParams, ScreenParams
from omibench.schemas.curation import FilterJudgement
from omibench.schemas.problem import Problem, strip_answer
from omibench.settings.steps import AnsweredTask, Task, run_tasks
from omibench.stages.filter.candidate import Candidate, figure_distance
from omibench.stages.filter.completeness import VOTE, vote_on_labels, vote_on_points
from omibench.stages.filter.models import (
    CheckedProblem,
    Models,
    mark_simulated,
    open_models,
    simulated_note,
)
from omibench.stages.filter.photographs import (
    classify_photographs,
    follow_photographs,
    is_photographed,
    vote_on_photographs,
)
from omibench.stages.filter.translation import original_language, translate_problems

if TYPE_CHECKING:
    from omibench.params.study import Study


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
) -> list[CheckedProblem]:
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
        CheckedProblem(p, judgements[p.id], _evidence(screen, p, judgements[p.id]))
        for p in problems
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


# Judgements by models, in sequence: each sees only the problems that are left.

Judge = Callable[[Sequence[Problem]], list[CheckedProblem]]


class RejectedProblem(NamedTuple):
    """A problem rejected by a judgement."""

    problem: Problem
    reason: str
    evidence: str


class ChecksOutcome(NamedTuple):
    """The remaining problems, the rejected ones, and all replies of models."""

    survivors: list[Problem]
    rejected: list[RejectedProblem]
    judgements: list[FilterJudgement]


def judge_problems(problems: Sequence[Problem], folder: Path, study: Study) -> ChecksOutcome:
    """Run the judgements set in `filter`; image paths are relative to `folder`.

    Without any, no requests are sent and all problems are kept.

    Raises:
        ModelError: A request has no answer; a judgement always needs all of its models.
    """
    if not study.filter.models:
        return ChecksOutcome(list(problems), [], [])
    with open_models(study) as models:
        return judge_with_models(models, problems, folder, study.filter)


def judge_with_models(
    models: Models, problems: Sequence[Problem], folder: Path, params: FilterParams
) -> ChecksOutcome:
    """Do the same with open models."""
    steps: list[tuple[str, Judge]] = []
    if params.photographs and "photographs" in params.judgements:
        sort = partial(
            classify_photographs, folder=folder, params=params.photographs, models=models
        )
        steps.append(("photographs", sort))
    if params.translation:
        steps.append(
            ("translation", partial(translate_problems, params=params.translation, models=models))
        )
        if "near_duplicate" in params.active_reasons:
            steps.append(("near_duplicate", partial(_across, folder=folder, params=params)))
    if params.completeness and "completeness" in params.judgements:
        vote = partial(_vote, folder=folder, params=params, models=models)
        steps.append(("completeness", vote))
    for name, screen in params.screens.items():
        tried = partial(apply_screen, name=name, folder=folder, params=screen, models=models)
        steps.append((name, tried))
    for name, of_reason in params.model_reasons.items():
        label = partial(vote_on_labels, name=name, folder=folder, params=of_reason, models=models)
        steps.append((name, label))
    outcome = ChecksOutcome(list(problems), [], [])
    for name, judge in steps:
        judged = follow_photographs(judge(outcome.survivors))
        outcome.judgements.extend(row for one in judged for row in one.judgements)
        outcome.rejected.extend(
            RejectedProblem(one.problem, JUDGEMENT_REASONS.get(name, name), one.evidence)
            for one in judged
            if one.evidence
        )
        outcome.survivors[:] = [
            mark_simulated(one.problem, one.judgements) for one in judged if one.evidence is None
        ]
    return outcome


def _vote(
    problems: Sequence[Problem], *, folder: Path, params: FilterParams, models: Models
) -> list[CheckedProblem]:
    """Run the completeness vote: on photographs as they are, on other problems as read."""
    panel = params.completeness
    if panel is None:
        return [CheckedProblem(problem, []) for problem in problems]
    prompt = params.photographs.completeness_prompt if params.photographs else None
    photographs = [problem for problem in problems if is_photographed(problem)]
    others = [problem for problem in problems if not is_photographed(problem)]
    of_photographs = panel.model_copy(update={"prompt": prompt})
    judged = [
        *vote_on_points(others, folder, panel, models, VOTE),
        *vote_on_photographs(photographs, folder, of_photographs, models),
    ]
    by_id = {outcome.problem.id: outcome for outcome in judged}
    return [by_id[problem.id] for problem in problems]


def _across(
    problems: Sequence[Problem], *, folder: Path, params: FilterParams
) -> list[CheckedProblem]:
    """Reject near duplicates from different original languages, in English; keep the first one."""
    earlier: list[Candidate] = []
    judged = []
    for problem in problems:
        candidate = Candidate(problem, folder)
        evidence = _find_original(candidate, earlier, params)
        judged.append(CheckedProblem(problem, [], evidence))
        if evidence is None:
            earlier.append(candidate)
    return judged


def _find_original(
    candidate: Candidate, earlier: Sequence[Candidate], params: FilterParams
) -> str | None:
    from rapidfuzz import fuzz

    language, threshold = original_language(candidate.problem), params.near_duplicate_translated
    for original in earlier:
        if original_language(original.problem) == language:
            continue  # already compared as read
        if len(original.contents) != len(candidate.contents):
            continue
        score = (
            fuzz.ratio(
                candidate.text_to_compare, original.text_to_compare, score_cutoff=100 * threshold
            )
            / 100
        )
        if not score:
            continue
        bits = figure_distance(candidate, original)
        if bits is not None and bits <= params.near_duplicate_images:
            return (
                f"in English, text is {score:.3f} similar to {original.problem.id} (read in "
                f"{original_language(original.problem)}, this one in {language}), at least "
                f"{threshold:g} counts as the same; figures differ in {bits} of 64 bits"
            )
    return None
