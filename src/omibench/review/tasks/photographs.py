"""Review tasks of a study's problems and photographs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from omibench.errors import MissingInputError
from omibench.files.reading import hash_file
from omibench.params.stages.ocr import OcrParams
from omibench.results.paper_pages import PaperPages, find_boxes, scale_box
from omibench.review.changes import find_drop
from omibench.review.contents import Content, find_suffix
from omibench.review.kinds import find_kind
from omibench.review.report import compute_states
from omibench.review.tasks.drafts import PictureFile, TaskDraft, draft_task
from omibench.review.tasks.problems import (
    ElsewhereParts,
    draft_problem_tasks,
    list_picture_files,
    show_candidates,
    show_labels,
    state_strata,
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
from omibench.stages.ocr.sources.manifest import (
    CLEAN,
    Source,
    list_by_stem,
    list_photographs,
    load_manifest,
)
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


# Tasks from photographs of problems (MathReal, C).


def draft_photographs(
    kind: str, files: Iterable[Path], clean: Path | None = None
) -> list[TaskDraft]:
    """Make a task of each photograph; its file name without suffix is its id.

    Args:
        kind: One of `outcomes.PHOTO_KINDS`.
        files: The photographs, as listed by `list_photographs`.
        clean: A folder with clean pictures of the same names, which `photo_fields` shows next to
            them.

    Returns:
        The tasks in the order of the files.
    """
    clean_files = list_by_stem(clean) if kind == "photo_fields" and clean else {}
    drafts = []
    for path in files:
        pictures = [_read_picture(path, "Photograph")]
        if path.stem in clean_files:
            pictures.append(_read_picture(clean_files[path.stem], "Clean picture"))
        facts: dict[str, JsonValue] = {"file": path.name}
        drafts.append(draft_task(kind, path.stem, {"facts": facts}, pictures))
    return drafts


def draft_photographed_problems(
    kind: str, problems: Iterable[Problem], folder: Path
) -> list[TaskDraft]:
    """Make a task of each problem that is one photograph, such as those of MathReal's release.

    Known questions and answers are prefilled for correction. A clean picture is shown next to the
    photograph of its group, and has no separate task.

    Args:
        kind: One of `outcomes.PHOTO_KINDS`.
        problems: The problems; those with another number of pictures are skipped.
        folder: The base folder of image paths.
    """
    all_problems = list(problems)
    clean = {p.group: p for p in all_problems if p.photograph == "clean"}
    drafts = []
    for problem in all_problems:
        if not is_photographed(problem) or problem.photograph == "clean":
            continue
        content: Content = {
            "question": problem.question,
            "answer": list(problem.answer or []),
            "description": problem.images[0].caption or "",
        }
        facts: Content = {"facts": {"source": problem.source}}
        parts = content | facts if kind == "photo_fields" else facts
        pictures = list_picture_files(problem, folder)
        if kind == "photo_fields" and problem.photograph and problem.group in clean:
            for picture, path in list_picture_files(clean[problem.group], folder):
                labelled = picture.model_copy(update={"label": "Clean picture"})
                pictures.append(PictureFile(labelled, path))
        drafts.append(draft_task(kind, problem.id, parts, pictures, strata=state_strata(problem)))
    return drafts


def is_photographed(problem: Problem) -> bool:
    """Return whether a problem has exactly one picture, with its bytes."""
    return len(problem.images) == 1 and bool(problem.images[0].sha256)


def _read_picture(path: Path, label: str) -> PictureFile:
    picture = TaskPicture(sha256=hash_file(path), suffix=find_suffix(path.name), label=label)
    return PictureFile(picture, path)


# Tasks on a folder of photographs; photographs discarded in screening get no further tasks.

SCREENING = "photo_screening"
_NO_PHOTOGRAPHS = (
    "review: {!r} tasks are about photographs; pass their folder with --photographs, or import "
    "problems that are one photograph each"
)


def draft_study_photographs(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of photographs, except those discarded by a settled screening.

    The photographs are the pictures of a folder or, without one, the study's problems that are one
    photograph each; freezing turns settled fields of these into attributes.

    Raises:
        MissingInputError: No photographs are found.
    """
    discarded = list_discarded(request) if request.kind != SCREENING else set()
    if request.photographs is None:
        return _draft_problems(request, discarded)
    files = [f for f in list_photographs(request.photographs) if f.stem not in discarded]
    names = request.choose(file.stem for file in files)
    chosen = [file for file in files if file.stem in names]
    return draft_photographs(request.kind, chosen, request.photographs / CLEAN)


def _draft_problems(request: TaskRequest, discarded: Collection[str]) -> list[TaskDraft]:
    try:
        path = request.problems or find_problems(request.results)
    except MissingInputError:
        raise MissingInputError(_NO_PHOTOGRAPHS.format(request.kind)) from None
    problems = [p for p in read_jsonl(path, Problem) if is_photographed(p)]
    if not problems:
        raise MissingInputError(_NO_PHOTOGRAPHS.format(request.kind))
    names = request.choose(
        p.id for p in problems if p.id not in discarded and p.photograph != "clean"
    )
    groups = {problem.group for problem in problems if problem.id in names}
    chosen = [p for p in problems if p.id in names or (p.photograph and p.group in groups)]
    return draft_photographed_problems(request.kind, chosen, path.parent)


def list_discarded(request: TaskRequest) -> set[str]:
    """Return the photographs that a settled screening discards."""
    kind = find_kind(SCREENING)
    screenings = [t for t in request.present if t.kind == SCREENING and t.purpose == "work"]
    states = compute_states(screenings, request.decisions, request.study.review.reviewers)
    return {
        state.task.problem
        for state in states.values()
        if state.fields is not None and find_drop(kind, state.fields)
    }
