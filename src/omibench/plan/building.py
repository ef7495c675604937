"""The requests of the stages before the freeze: filter models, rationale writers and labellers.

They are counted in a dry run over the existing problems. A problem with an unknown judgement counts
as passing it, so that later judgements are counted at their maximum.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.judges.panel import ASKS
from omibench.params.study import Study
from omibench.plan.dry import WORDS, DryModels, DryRun, Reply
from omibench.plan.reading import names_readers
from omibench.plan.view import GUESS, Step, StudyView
from omibench.schemas.problem import Problem
from omibench.schemas.request import Request, Response, Role
from omibench.schemas.tables import read_jsonl
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.stages.filter import photographs
from omibench.stages.filter.completeness import POINTS
from omibench.stages.filter.judging import judge_with_models
from omibench.stages.filter.stage import sift
from omibench.stages.filter.translation import ASKS as TRANSLATIONS
from omibench.stages.rationale.candidates import Score
from omibench.stages.rationale.degenerate import DegeneracyRule
from omibench.stages.rationale.labels.embedding import Embed, build_text_request
from omibench.stages.rationale.labels.run import LabelModels, choose_embedding, label_problems
from omibench.stages.rationale.solutions import Ask, write_solutions
from omibench.stages.rationale.stage import make_writer, score_by

if TYPE_CHECKING:
    from omibench.stages.rationale.labels.embedding import Matrix

Steps = Iterator[tuple[str, Role, str, list[Step]]]
"""Stage, role, model, and its requests."""
GUESSED_LABEL = Response(text="{CLASS: not known yet}", provider_id=GUESS)
READ = {"filter": "ocr", "rationale": "filter"}
"""Stage -> the stage that produces its problems."""


def _approve(points: Mapping[str, object]) -> Response:
    return Response(text=json.dumps(points), provider_id=GUESS)


APPROVES = _approve(dict.fromkeys(POINTS, True))


def list_building_steps(view: StudyView) -> Steps:
    """Return the requests of each stage whose problems exist."""
    stages: dict[str, Callable[[StudyView, Path], DryRun]] = {
        "filter": _plan_filter, "rationale": _plan_rationales,
    }  # fmt: skip
    for stage in _asking(view.study):
        if stage in stages and (problems := _problems(view.study, stage)).is_file():
            grouped: dict[tuple[Role, str], dict[str, Step]] = {}
            for step in stages[stage](view, problems).steps:
                grouped.setdefault((step.role, step.model), {}).setdefault(step.key, step)
            for (role, model), steps in grouped.items():
                yield stage, role, model, list(steps.values())


def uncounted_models(study: Study, *, is_read: bool = False) -> dict[str, list[str]]:
    """Return stage -> its models whose input is missing.

    Args:
        study: Study.
        is_read: Whether the papers were opened, so that the requests of readers are counted.
    """
    named = _asking(study)
    return {
        stage: models
        for stage, models in named.items()
        if not (is_read if stage not in READ else _problems(study, stage).is_file())
    }


def names_building_models(study: Study) -> bool:
    """Return whether stages before the freeze query models, or Mathpix."""
    return bool(_asking(study)) or names_readers(study)


def count_asks(view: StudyView, role: Role, model: str, steps: Sequence[Step]) -> float:
    """Return the maximum number of requests as a multiple of the expected one.

    Args:
        view: The study and its store.
        role: The role of the model.
        model: Its name.
        steps: Its expected requests.

    Returns:
        1 if no request repeats. A writer can be queried for all candidates and tries.
    """
    if role == "rationale_writer":
        return _count_writer_asks(view, model, steps)
    return {"voter": ASKS, "translator": TRANSLATIONS}.get(role, 1)


def _count_writer_asks(view: StudyView, model: str, steps: Sequence[Step]) -> float:
    params = view.study.rationale
    if params.stop_at_right:
        return params.candidates + params.reference_tries
    partition = view.open_partition(model)
    missing = [step.request.tags.problem for step in steps if step.key not in partition]
    tries = params.reference_tries * len(set(missing))
    return 1 + tries / len(missing) if missing else 1


def _asking(study: Study) -> dict[str, list[str]]:
    """Return the stages before the freeze that query models; none if nothing is built."""
    written = study.rationale
    named = {
        "ocr": study.ocr.models,
        "filter": study.filter.models,
        "rationale": written.models,
    }
    from_papers = study.benchmark.name == "papers"
    return {
        stage: list(dict.fromkeys(names)) for stage, names in named.items() if names and from_papers
    }


def _problems(study: Study, stage: str) -> Path:
    return Path(study.study.results) / READ[stage] / "problems.jsonl"


def _plan_filter(view: StudyView, problems: Path) -> DryRun:
    folder, params = problems.parent, view.study.filter
    sound, _ = sift(read_jsonl(problems, Problem), folder, params)
    subjects = params.photographs.subjects if params.photographs else ()
    dry = DryRun(view, _passing({p.id: p for p in sound}, subjects), chained=True)
    judge_with_models(DryModels(dry), sound, folder, params)
    return dry


def _passing(problems: dict[str, Problem], subjects: Sequence[str]) -> Reply:
    """Return passing replies: approving votes, right or wrong answers as required."""
    of_photographs = {"subject": next(iter(subjects), "other"), "figure": True}
    votes = {
        photographs.CLASS.closing: _approve(of_photographs),
        photographs.COMPLETENESS.closing: _approve(dict.fromkeys(photographs.POINTS, True)),
    }

    def reply(request: Request) -> Response:
        tags = request.tags
        if tags.role == "voter":
            text = request.conversation.text
            return next((vote for words, vote in votes.items() if words in text), APPROVES)
        if tags.setting != "difficulty":
            return WORDS
        right = "; ".join(problems[tags.problem].answer or [])
        return WORDS.model_copy(update={"text": f"\\boxed{{{right}}}"})

    return reply


def _plan_rationales(view: StudyView, problems: Path) -> DryRun:
    """Plan rationales: a missing candidate counts as right, so no reference is shown after it.

    Topics without a name count as one topic per subject: at least one cluster is named.
    """
    study, rows = view.study, read_jsonl(problems, Problem)
    params, folder = study.rationale, problems.parent
    dry = DryRun(view, _write_something)
    if params.writer:
        model = params.writer
        writer = make_writer(study, model, partial(dry.ask, model), _accept_filler(params.rules))
        rule = _lengthen_filler(writer.degeneracy)
        rows = write_solutions(rows, folder, replace(writer, degeneracy=rule)).problems
    if params.labeller:
        embedder = dry.asking(params.embedder) if params.embedder else None
        models = LabelModels(dry.asking(params.labeller), _embed(study, embedder))
        label_problems(rows, folder, study, models)
    return dry


def _write_something(request: Request) -> Response:
    return GUESSED_LABEL if request.tags.role == "labeller" else WORDS


def _embed(study: Study, ask: Ask | None) -> Embed:
    """Embed topics; a model's vectors are counted but not read, so that all are one cluster."""
    if ask is None:
        return choose_embedding(study, None)

    def count(texts: Sequence[str]) -> Matrix:
        import numpy as np

        ask([build_text_request(text, study.study.name) for text in texts])
        return np.zeros((len(texts), 1))

    return count


def _accept_filler(rules: str) -> Score:
    score = score_by(rules)

    def accept(item: ScoredItem) -> Verdict:
        verdict = score(item)
        return verdict.model_copy(update={"verdict": 1.0}) if _is_filler(item) else verdict

    return accept


def _lengthen_filler(rule: DegeneracyRule) -> DegeneracyRule:
    def count_tokens(text: str) -> int:
        return rule.min_tokens if text == WORDS.text.strip() else rule.count_tokens(text)

    return rule._replace(count_tokens=count_tokens)


def _is_filler(item: ScoredItem) -> bool:
    return item.prediction == WORDS.text
