"""Tasks on the problems of a study, from the files of its stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.review_tasks.current_problems import find_problems, read_current_problems
from omibench.review_tasks.drafts import TaskDraft
from omibench.review_tasks.labels import show_labels
from omibench.review_tasks.pages import draw_problem_pages, list_drawn_pages, show_pages
from omibench.review_tasks.problems import ElsewhereParts, draft_problem_tasks
from omibench.review_tasks.rationales import show_candidates
from omibench.review_tasks.request import TaskRequest
from omibench.schemas.label_row import LabelRow
from omibench.schemas.pages import PageText
from omibench.schemas.problem import Problem
from omibench.schemas.rationale_candidate import RationaleCandidate
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.sources.manifest import load_manifest
from omibench.stages.rationale.labels.label_file import read_labels


def draft_study_problems(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of the problems of a study.

    Each problem is shown as changed by the decisions in `review.decisions` and the settled tasks of
    earlier kinds; dropped problems get no task.

    Raises:
        MissingInputError: No stage has written problems, or a file that the kind needs is missing.
        FileFormatError: A file is invalid.
        PaperError: The pages of a paper cannot be drawn.
    """
    path = request.problems or find_problems(request.results)
    problems = read_current_problems(request, path)
    names = request.choose(problem.id for problem in problems)
    problems = [problem for problem in problems if problem.id in names]
    elsewhere = _read_elsewhere(request, path.parent, problems)
    return draft_problem_tasks(request.kind, problems, path.parent, elsewhere)


def _read_elsewhere(
    request: TaskRequest, folder: Path, problems: Sequence[Problem]
) -> ElsewhereParts:
    models = request.study.models
    parts = ElsewhereParts(simulated_models={n for n, m in models.items() if m.is_simulated})
    if request.kind == "rationale":
        return _add_candidates(folder, parts)
    if request.kind == "label":
        return _add_labels(request, folder, parts)
    if request.kind == "page":
        return _add_pages(request, problems, parts)
    return parts


def _add_candidates(folder: Path, parts: ElsewhereParts) -> ElsewhereParts:
    path = folder / "candidates.jsonl"
    candidates = read_jsonl(path, RationaleCandidate) if path.is_file() else []
    simulated = {candidate.problem for candidate in candidates if candidate.simulated}
    return replace(parts, add_parts=show_candidates(candidates), simulated=simulated)


def _add_labels(request: TaskRequest, folder: Path, parts: ElsewhereParts) -> ElsewhereParts:
    rows_path = folder / "labels.jsonl"
    rows = read_jsonl(rows_path, LabelRow) if rows_path.is_file() else []
    taxonomy = request.study.rationale.taxonomy
    file = Path(taxonomy.file) if taxonomy and taxonomy.file else folder / "labels.yaml"
    subfields = read_labels(file).subfields if file.is_file() else {}
    simulated = {row.id for row in rows if row.simulated}
    return replace(parts, add_parts=show_labels(rows, subfields), simulated=simulated)


def _add_pages(
    request: TaskRequest, problems: Sequence[Problem], parts: ElsewhereParts
) -> ElsewhereParts:
    sources, texts_path = request.study.ocr.sources, request.results / "ocr" / "pages.jsonl"
    if not sources:
        raise MissingInputError(
            "review: `ocr.sources` is not set, so there are no pages to compare problems with"
        )
    texts = read_jsonl(texts_path, PageText)
    pages = draw_problem_pages(
        [problem for problem in problems if problem.pages],
        texts,
        load_manifest(Path(sources)),
        request.scratch,
        request.study.ocr,
        drawn=list_drawn_pages(request.results / "ocr"),
    )
    return replace(parts, add_pictures=show_pages(pages, texts))
