"""Tasks on problems: pages, translations, difficulty, rationales, labels, items.

Tasks that compare problems with their paper show images of its pages (OMIBench, A.2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from omibench.errors import MissingInputError
from omibench.files.reading import hash_file
from omibench.params.stages.ocr import OcrParams
from omibench.results.paper_pages import PaperPages, find_boxes, scale_box
from omibench.review.contents import Content, find_suffix, list_pictures, make_content
from omibench.review.tasks.drafts import PictureFile, TaskDraft, draft_task
from omibench.review.tasks.request import TaskRequest, find_problems, read_current_problems
from omibench.schemas.curation import LabelRow, RationaleCandidate
from omibench.schemas.pages import PageText
from omibench.schemas.problem import LABEL, RATIONALE, Problem, Question, Subject, join_labels
from omibench.schemas.review import TaskPicture
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.page_pictures import DrawnPage, draw_pages
from omibench.stages.ocr.sources.files import is_photograph
from omibench.stages.ocr.sources.manifest import Source, load_manifest
from omibench.stages.rationale.labels.label_file import read_labels

AddParts = Callable[[Problem], Content]
"""Returns parts of a problem's task that come from other sources."""
AddPictures = Callable[[Problem], Iterable[PictureFile]]
_SHOWN_WORK: Mapping[str, str] = {"rationale": RATIONALE, "label": LABEL, "item": RATIONALE}
"""The code of the warning if a model wrote a kind's content, by kind."""


@dataclass(frozen=True)
class ElsewhereParts:
    """Task content that is not part of the problem.

    Attributes:
        add_parts: Returns parts from other sources, such as candidates.
        add_pictures: Returns additional pictures, such as the problem's pages.
        simulated_models: Names of simulated models, which may have translated a problem.
        simulated: Ids of problems with parts from a simulated model.
    """

    add_parts: AddParts = lambda problem: {}
    add_pictures: AddPictures = lambda problem: ()
    simulated_models: Collection[str] = ()
    simulated: Collection[str] = ()


def draft_problem_tasks(
    kind: str,
    problems: Iterable[Problem],
    folder: Path,
    elsewhere: ElsewhereParts | None = None,
) -> list[TaskDraft]:
    """Make a task for each problem that a kind applies to.

    Args:
        kind: One of `contents.PROBLEM_KINDS`.
        problems: The problems as changed by the kinds before it.
        folder: The base folder of image paths.
        elsewhere: Content from other sources.

    Returns:
        The tasks in the order of the problems.
    """
    elsewhere = elsewhere or ElsewhereParts()
    drafts = []
    for problem in problems:
        content = make_content(kind, problem)
        if content is None:
            continue
        content |= elsewhere.add_parts(problem)
        pictures = [*list_picture_files(problem, folder), *elsewhere.add_pictures(problem)]
        drafts.append(
            draft_task(
                kind,
                problem.id,
                content,
                pictures,
                strata=state_strata(problem),
                simulated=_is_simulated(kind, problem, elsewhere),
            )
        )
    return drafts


def list_picture_files(problem: Problem | Question, folder: Path) -> list[PictureFile]:
    """Return the pictures of a problem with their files; missing ones are skipped."""
    figures = [figure for figure in problem.images if figure.sha256]
    return [
        PictureFile(picture, folder / figure.file)
        for picture, figure in zip(list_pictures(problem), figures, strict=True)
    ]


def state_strata(problem: Problem) -> dict[str, str]:
    """Return the strata for samples (OMIBench, A.4.3), and the subject."""
    return {
        "subject": problem.subject,
        "type": problem.answer_type,
        "difficulty": join_labels(problem.attributes.get("difficulty")),
        "source": problem.source,
    }


def _is_simulated(kind: str, problem: Problem, elsewhere: ElsewhereParts) -> bool:
    """Return whether a task of a kind shows content from a simulated model."""
    if kind == "page":
        return False
    translator = problem.original.translator if problem.original else None
    code = _SHOWN_WORK.get(kind)
    return (
        translator in elsewhere.simulated_models
        or problem.id in elsewhere.simulated
        or any(warning.is_simulated and warning.code == code for warning in problem.warnings)
    )


# Labels with their reasons, and the list of subfields to choose from.


def show_labels(
    rows: Iterable[LabelRow], subfields: Mapping[Subject, Iterable[str]]
) -> Callable[[Problem], Content]:
    """Return a function for the reasons of a problem's labels, and the existing subfields.

    Args:
        rows: Rows of labels.jsonl.
        subfields: The subfields of each subject. All are listed in the same order for every
            problem, because auditors must not see its subject.
    """
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.reason and row.kind != "skill":
            reasons.setdefault(row.id, []).append(row.reason)
    subjects: dict[str, list[str]] = {}
    for subject in sorted(subfields):
        for name in subfields[subject]:
            subjects.setdefault(name, []).append(subject)
    options: list[JsonValue] = [
        {"value": name, "title": f"{', '.join(subjects[name])}: {name}"}
        for name in sorted(subjects, key=lambda name: (subjects[name], name))
    ]

    def add_labels(problem: Problem) -> Content:
        return {"reason": "\n".join(reasons.get(problem.id, [])), "subfields": options}

    return add_labels


# Candidate rationales for annotators (OMIBench, A.3.2).

_RIGHT = ("used", "right")


def show_candidates(candidates: Iterable[RationaleCandidate]) -> Callable[[Problem], Content]:
    """Return a function for the candidates of each problem.

    Candidates with the right answer are shown; without any, the drawn wrong ones. A problem without
    candidates has its existing solution as the only one.

    Args:
        candidates: Rows of candidates.jsonl.
    """
    by_problem: defaultdict[str, list[RationaleCandidate]] = defaultdict(list)
    for candidate in candidates:
        by_problem[candidate.problem].append(candidate)
    helps = {"sketch": ", with the reference solution", "answer": ", with the answer"}

    def add_candidates(problem: Problem) -> Content:
        found = by_problem[problem.id]
        right = [candidate for candidate in found if candidate.reason in _RIGHT]
        shown = right or [candidate for candidate in found if candidate.reason == "wrong_drawn"]
        verdict = "right" if right else "wrong"
        entries: list[JsonValue] = [
            {
                "id": candidate.id,
                "title": f"Candidate {number}, {verdict} answer"
                f"{helps.get(candidate.reference, '')}",
                "text": candidate.text.strip(),
            }
            for number, candidate in enumerate(shown, 1)
        ]
        if not entries and problem.solution:
            title = "The existing solution"
            entries = [{"id": f"{problem.id}#given", "title": title, "text": problem.solution}]
        return {"candidates": entries}

    return add_candidates


# Page images for tasks that compare problems with their paper (OMIBench, A.2).

Pages = Mapping[tuple[str, int], tuple[DrawnPage, Path]]
"""The picture of each page by source and number; `file` of a drawn page is its file name."""


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
            all_pages[name, 1] = (DrawnPage(page=1, file=paper.name, width=0, height=0), paper)
            continue
        place = folder / papers[name].slug
        place.mkdir(parents=True, exist_ok=True)
        pictures = draw_pages(
            str(paper),
            {page: turns.get((name, page), 0.0) for page in pages},
            place,
            params.max_pages,
            params.memory_mb,
        )
        all_pages |= {(name, page.page): (page, place / page.file) for page in pictures}
    return all_pages


def list_drawn_pages(ocr: Path) -> Pages:
    """Return the pages drawn by `ocr` whose pictures exist.

    Args:
        ocr: The folder of `ocr`.
    """
    return {
        place: (
            DrawnPage(page=row.page, file=path.name, width=row.width, height=row.height),
            path,
        )
        for place, (row, path) in PaperPages(ocr).pictures.items()
        if path.is_file()
    }


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
    names = request.choose(problem.id for problem in problems)
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
