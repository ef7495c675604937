"""Judgements by models, in sequence: each sees only the problems that are left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from omibench.params.filtering.presets import JUDGEMENT_REASONS
from omibench.params.stage_params import FilterStageParams
from omibench.params.stages.filter import FilterParams
from omibench.schemas.problem import Problem
from omibench.schemas.rejects import FilterJudgement
from omibench.stages.filter.candidate import Candidate, figure_distance
from omibench.stages.filter.completeness import vote_completeness
from omibench.stages.filter.judged import JudgedProblem, mark_simulated
from omibench.stages.filter.models import Models, open_models
from omibench.stages.filter.photographs import (
    classify_photographs,
    follow_photographs,
    is_photographed,
    vote_on_photographs,
)
from omibench.stages.filter.screens import apply_screen
from omibench.stages.filter.translation import original_language, translate_problems

Judge = Callable[[Sequence[Problem]], list[JudgedProblem]]


class RejectedProblem(NamedTuple):
    """A problem rejected by a judgement."""

    problem: Problem
    reason: str
    evidence: str


class JudgingOutcome(NamedTuple):
    """The remaining problems, the rejected ones, and all replies of models."""

    survivors: list[Problem]
    rejected: list[RejectedProblem]
    judgements: list[FilterJudgement]


def judge_problems(
    problems: Sequence[Problem], folder: Path, study: FilterStageParams
) -> JudgingOutcome:
    """Run the judgements set in `filter`; image paths are relative to `folder`.

    Without any, no requests are sent and all problems are kept.

    Raises:
        ModelError: A request has no answer; a judgement always needs all of its models.
    """
    if not study.filter.models:
        return JudgingOutcome(list(problems), [], [])
    with open_models(study) as models:
        return judge_with_models(models, problems, folder, study.filter)


def judge_with_models(
    models: Models, problems: Sequence[Problem], folder: Path, params: FilterParams
) -> JudgingOutcome:
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
    outcome = JudgingOutcome(list(problems), [], [])
    for name, judge in steps:
        judged = follow_photographs(judge(outcome.survivors))
        outcome.judgements.extend(row for one in judged for row in one.judgements)
        outcome.rejected.extend(
            RejectedProblem(one.problem, JUDGEMENT_REASONS[name], one.evidence)
            for one in judged
            if one.evidence
        )
        outcome.survivors[:] = [
            mark_simulated(one.problem, one.judgements) for one in judged if one.evidence is None
        ]
    return outcome


def _vote(
    problems: Sequence[Problem], *, folder: Path, params: FilterParams, models: Models
) -> list[JudgedProblem]:
    """Run the completeness vote: on photographs as they are, on other problems as read."""
    panel = params.completeness
    if panel is None:
        return [JudgedProblem(problem, []) for problem in problems]
    prompt = params.photographs.completeness_prompt if params.photographs else None
    photographs = [problem for problem in problems if is_photographed(problem)]
    others = [problem for problem in problems if not is_photographed(problem)]
    of_photographs = panel.model_copy(update={"prompt": prompt})
    judged = [
        *vote_completeness(others, folder, panel, models),
        *vote_on_photographs(photographs, folder, of_photographs, models),
    ]
    by_id = {outcome.problem.id: outcome for outcome in judged}
    return [by_id[problem.id] for problem in problems]


def _across(
    problems: Sequence[Problem], *, folder: Path, params: FilterParams
) -> list[JudgedProblem]:
    """Reject near duplicates from different original languages, in English; keep the first one."""
    earlier: list[Candidate] = []
    judged = []
    for problem in problems:
        candidate = Candidate(problem, folder)
        evidence = _find_original(candidate, earlier, params)
        judged.append(JudgedProblem(problem, [], evidence))
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
