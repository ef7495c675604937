"""Tasks on the problems of a study, with images of their pages, from the files of its stages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.files.reading import hash_file
from omibench.params.stages.ocr import OcrParams
from omibench.results.paper_pages import PaperPages, find_boxes, scale_box
from omibench.review.contents import find_suffix
from omibench.review.tasks.drafts import PictureFile, TaskDraft
from omibench.review.tasks.problems import (
    ElsewhereParts,
    draft_problem_tasks,
    show_candidates,
    show_labels,
)
from omibench.review.tasks.request import (
    TaskRequest,
    find_problems,
    read_current_problems,
    read_suspected_keys,
)
from omibench.schemas.curation import LabelRow, RationaleCandidate
from omibench.schemas.pages import PagePicture, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.review import TaskPicture
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.page_pictures import draw_pages
from omibench.stages.ocr.sources.files import is_photograph
from omibench.stages.ocr.sources.manifest import Source, load_manifest
from omibench.stages.rationale.labels.label_file import read_labels

# Page images for tasks that compare problems with their paper (OMIBench, A.2).

Pages = Mapping[tuple[str, int], tuple[PagePicture, Path]]
"""The picture of each page by source and number, and its file."""


def draw_problem_pages(  # noqa: PLR0913 - what to draw, how it was read, and where to
    problems: Iterable[Problem],
    texts: Iterable[PageText],
    sources: Iterable[Source],
    folder: Path,
    params: OcrParams,
    *,
    drawn: Pages | None = None,
) -> Pages:
    """Draw the pages of the problems, each once, unless `ocr` has drawn them.

    Args:
        problems: The problems to check.
        texts: The pages as read, with their rotation.
        sources: The papers.
        folder: The output folder, with one folder per source.
        params: Limits of papers.
        drawn: Existing page images.

    Raises:
        MissingInputError: A paper is not in the sources, or its file is missing.
        PaperError: A paper cannot be drawn.
    """
    turns = {(text.source, text.page): text.turn for text in texts}
    papers = {source.name: source for source in sources}
    needed: dict[str, set[int]] = defaultdict(set)
    for problem in problems:
        needed[problem.source].update(problem.pages)
    all_pages = dict(drawn or {})
    for name, numbers in needed.items():
        pages = {number for number in numbers if (name, number) not in all_pages}
        if not pages:
            continue
        paper = _find_paper(name, papers)
        if is_photograph(paper):
            # Photographs are shown unstraightened, so the boxes from reading do not fit.
            digest = hash_file(paper)
            photograph = PagePicture(
                source=name, page=1, file=paper.name, sha256=digest, width=0, height=0
            )
            all_pages[name, 1] = (photograph, paper)
            continue
        place = folder / papers[name].slug
        turned = {page: turns.get((name, page), 0.0) for page in pages}
        pictures = draw_pages(papers[name], turned, place, params)
        all_pages |= {(name, page.page): (page, place / page.file) for page in pictures}
    return all_pages


def list_drawn_pages(ocr: Path) -> Pages:
    """Return the pages drawn by `ocr` whose pictures exist.

    Args:
        ocr: The folder of `ocr`.
    """
    pictures = PaperPages(ocr).pictures.items()
    return {place: (row, path) for place, (row, path) in pictures if path.is_file()}


def show_pages(
    pages: Pages, texts: Sequence[PageText]
) -> Callable[[Problem], Iterable[PictureFile]]:
    """Return a function for the pages of each problem, with its boxes.

    Args:
        pages: Their pictures.
        texts: The texts read from them.
    """
    read = {(text.source, text.page): text for text in texts}

    def add_pages(problem: Problem) -> Iterable[PictureFile]:
        for number in problem.pages:
            place = (problem.source, number)
            if place not in pages:
                continue
            page, path = pages[place]
            boxes = find_boxes(problem, read[place]) if place in read and page.width else []
            picture = TaskPicture(
                sha256=hash_file(path),
                suffix=find_suffix(path.name),
                part="page",
                label=f"Page {page.page}",
                boxes=[scale_box(box, page.width, page.height) for box in boxes],
            )
            yield PictureFile(picture, path)

    return add_pages


def _find_paper(name: str, papers: Mapping[str, Source]) -> Path:
    if name not in papers:
        raise MissingInputError(
            f"review: paper {name!r} is not in the sources, so its pages cannot be shown; set the "
            "manifest under `ocr.sources`"
        )
    paper = Path(papers[name].paper)
    if not paper.is_file():
        raise MissingInputError(f"review: {paper} not found, so its pages cannot be shown")
    return paper


# Tasks of a study.


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
    suspected = read_suspected_keys(request.results) if request.suspected_keys else None
    names = request.choose((problem.id for problem in problems), suspected)
    problems = [problem for problem in problems if problem.id in names]
    elsewhere = _read_elsewhere(request, path.parent, problems)
    return draft_problem_tasks(request.kind, problems, path.parent, elsewhere)


def _read_elsewhere(
    request: TaskRequest, folder: Path, problems: Sequence[Problem]
) -> ElsewhereParts:
    models = {n for n, m in request.study.models.items() if m.is_simulated}
    if request.kind == "rationale":
        path = folder / "candidates.jsonl"
        candidates = read_jsonl(path, RationaleCandidate) if path.is_file() else []
        simulated = {candidate.problem for candidate in candidates if candidate.simulated}
        add = show_candidates(candidates)
        return ElsewhereParts(add, simulated_models=models, simulated=simulated)
    if request.kind == "label":
        path = folder / "labels.jsonl"
        rows = read_jsonl(path, LabelRow) if path.is_file() else []
        taxonomy = request.study.rationale.taxonomy
        file = Path(taxonomy.file) if taxonomy and taxonomy.file else folder / "labels.yaml"
        subfields = read_labels(file).subfields if file.is_file() else {}
        simulated = {row.id for row in rows if row.simulated}
        add = show_labels(rows, subfields)
        return ElsewhereParts(add, simulated_models=models, simulated=simulated)
    if request.kind != "page":
        return ElsewhereParts(simulated_models=models)
    if not request.study.ocr.sources:
        raise MissingInputError(
            "review: `ocr.sources` is not set, so there are no pages to compare problems with"
        )
    texts = read_jsonl(request.results / "ocr" / "pages.jsonl", PageText)
    pages = draw_problem_pages(
        problems,
        texts,
        load_manifest(Path(request.study.ocr.sources)),
        request.scratch,
        request.study.ocr,
        drawn=list_drawn_pages(request.results / "ocr"),
    )
    return ElsewhereParts(add_pictures=show_pages(pages, texts), simulated_models=models)
