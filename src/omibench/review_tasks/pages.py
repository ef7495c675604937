"""Page images for tasks that compare problems with their paper (OMIBench, A.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.files.hashes import hash_file
from omibench.params.stages.ocr import OcrParams
from omibench.results.page_boxes import find_boxes, scale_box
from omibench.results.paper_pages import PaperPages
from omibench.review.contents import find_suffix
from omibench.review_tasks.drafts import PictureFile
from omibench.schemas.pages import PageText
from omibench.schemas.problem import BBox, Problem
from omibench.schemas.review import TaskPicture
from omibench.stages.ocr.page_pictures import DrawnPage, draw_pages
from omibench.stages.ocr.sources.check import is_photograph
from omibench.stages.ocr.sources.manifest import Source

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
            if place in pages:
                page, path = pages[place]
                boxes = _scale_boxes(problem, page, read.get(place))
                yield PictureFile(_make_picture(page, path, boxes), path)

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


def _make_picture(page: DrawnPage, path: Path, boxes: list[BBox]) -> TaskPicture:
    return TaskPicture(
        sha256=hash_file(path),
        suffix=find_suffix(path.name),
        part="page",
        label=f"Page {page.page}",
        boxes=boxes,
    )


def _scale_boxes(problem: Problem, page: DrawnPage, text: PageText | None) -> list[BBox]:
    if text is None or not page.width:
        return []
    return [scale_box(box, page.width, page.height) for box in find_boxes(problem, text)]
