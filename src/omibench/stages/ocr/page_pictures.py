"""Pictures of the pages with problems, for inspection: `pages/` and `page_pictures.jsonl`, their
index."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, TypeAdapter

from omibench.errors import PaperError
from omibench.files.programs import isolate_env, python_module
from omibench.files.reading import hash_file
from omibench.params.stages.ocr import OcrParams
from omibench.results.paper_pages import TABLE
from omibench.schemas.pages import PagePicture, PageText
from omibench.schemas.problem import FrozenModel, Problem
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.ocr.engines.readers import require_pdf
from omibench.stages.ocr.jobs import GRACE_S, WALL, count_workers, limit_cpu, limit_memory
from omibench.stages.ocr.layout.scans import turn_content
from omibench.stages.ocr.sources.files import has_huge_image, is_photograph, open_pdf
from omibench.stages.ocr.sources.manifest import Source

if TYPE_CHECKING:
    import pymupdf


PAGES: Final = "pages"
log = logging.getLogger(__name__)


def write_page_pictures(
    out: Path, sources: Iterable[Source], params: OcrParams, password_env: str | None = None
) -> list[PagePicture]:
    """Draw the pages with problems of `out`, and remove those of an earlier run.

    Photographs are not drawn: they were straightened for reading, and boxes do not fit them. If
    pages of a paper cannot be drawn, the log reports it, and the paper is still read.

    Args:
        out: Folder with `problems.jsonl` and `pages.jsonl`.
        sources: The papers.
        params: Parameters that enable drawing and limit papers.
        password_env: Environment variable with the password of encrypted papers.

    Returns:
        The contents of `page_pictures.jsonl`.
    """
    folder = out / PAGES
    (out / TABLE).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows: list[PagePicture] = []
    if params.page_pictures:
        pages = find_pages(read_jsonl(out / "problems.jsonl", Problem))
        texts = read_jsonl(out / "pages.jsonl", PageText)
        papers = [s for s in sources if pages.get(s.name) and not is_photograph(Path(s.paper))]
        with ThreadPoolExecutor(count_workers(len(papers))) as pool:
            drawn = pool.map(
                lambda s: _draw_paper(out, s, _list_turns(s, pages, texts), params, password_env),
                papers,
            )
            rows = [row for paper_rows in drawn for row in paper_rows]
    write_jsonl(out / TABLE, rows)
    return rows


def find_pages(problems: Iterable[Problem]) -> Mapping[str, set[int]]:
    """Return the pages with problems, by source."""
    pages: defaultdict[str, set[int]] = defaultdict(set)
    for problem in problems:
        pages[problem.source].update(problem.pages)
    return pages


def _list_turns(
    source: Source, pages: Mapping[str, set[int]], texts: Sequence[PageText]
) -> dict[int, float]:
    turns = {text.page: text.turn for text in texts if text.source == source.name}
    return {page: turns.get(page, 0.0) for page in pages[source.name]}


def _draw_paper(
    out: Path,
    source: Source,
    turns: Mapping[int, float],
    params: OcrParams,
    password_env: str | None,
) -> list[PagePicture]:
    place = out / PAGES / source.slug
    place.mkdir(parents=True, exist_ok=True)
    try:
        drawn = draw_pages(
            source.paper,
            turns,
            place,
            params.max_pages,
            params.memory_mb,
            password_env=password_env,
        )
    except PaperError as error:
        log.warning("%s; items of this paper are shown without its pages", error)
        return []
    return [
        PagePicture(
            source=source.name,
            page=page.page,
            file=(place / page.file).relative_to(out).as_posix(),
            sha256=hash_file(place / page.file),
            width=page.width,
            height=page.height,
        )
        for page in drawn
    ]


# Draw pages of a paper as pictures for people who check the reading.
#
# A separate process with bounded time and memory draws them, since a paper may be hostile: `-m
# omibench.stages.ocr.page_pictures`, with its job as JSON.

DPI: Final = 120
QUALITY: Final = 75
MAX_SIDE: Final = 2200
_PAGE_S: Final = 5.0
"""The CPU seconds allowed to draw one page."""
_MODULE: Final = "omibench.stages.ocr.page_pictures"


class PagesJob(BaseModel):
    """The job of the process: a paper, its pages and the output folder."""

    paper: str
    turns: dict[int, float]
    """Pages from 1, and the degrees clockwise by which each was turned for reading."""
    folder: Path
    max_pages: int
    memory_mb: int
    password_env: str | None = None
    """The environment variable with the password of encrypted papers."""


class DrawnPage(FrozenModel):
    """The picture of a page as read: upright, with its size in points."""

    page: int
    file: str
    width: float
    height: float


def draw_pages(  # noqa: PLR0913 - what to draw, where to, and within which bounds
    paper: str,
    turns: Mapping[int, float],
    folder: Path,
    max_pages: int,
    memory_mb: int,
    *,
    password_env: str | None = None,
) -> list[DrawnPage]:
    """Draw pages of a paper as `p0001.jpg`, ... into an existing folder.

    Args:
        paper: Path of a PDF.
        turns: Pages from 1, and the degrees clockwise by which each was turned for reading
            (`PageText.turn`).
        folder: Output folder.
        max_pages: Limit as in `ocr.max_pages`; longer papers are rejected.
        memory_mb: Limit as in `ocr.memory_mb`.
        password_env: Environment variable with the password of an encrypted paper.

    Returns:
        The pages, without missing ones and those too large to be read.

    Raises:
        PaperError: The paper cannot be opened or drawn.
    """
    require_pdf()
    job = PagesJob(
        paper=paper,
        turns=dict(turns),
        folder=folder,
        max_pages=max_pages,
        memory_mb=memory_mb,
        password_env=password_env,
    )
    try:
        process = subprocess.run(
            python_module(_MODULE),
            input=job.model_dump_json(),
            capture_output=True,
            encoding="utf-8",
            env=isolate_env(os.environ),
            timeout=WALL * _limit_s(job),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PaperError("paper_timeout", f"{paper}: its pages were not drawn in time") from None
    if process.returncode or not process.stdout.strip():
        last = (process.stderr.strip().splitlines() or ["no message"])[-1][:300]
        raise PaperError("paper_failed", f"{paper}: its pages cannot be drawn: {last}")
    return _PAGES.validate_json(process.stdout.strip().splitlines()[-1])


_PAGES: Final = TypeAdapter(list[DrawnPage])


def _limit_s(job: PagesJob) -> float:
    return GRACE_S + _PAGE_S * len(job.turns)


def _draw(job: PagesJob) -> list[DrawnPage]:
    password = os.environ.get(job.password_env) if job.password_env else None
    pdf, _ = open_pdf(Path(job.paper), job.max_pages, password)
    pages = sorted(number for number in job.turns if 1 <= number <= pdf.page_count)
    return [
        _draw_page(pdf[number - 1], number, job)
        for number in pages
        if not has_huge_image(pdf[number - 1])  # too large to be read is too large to be shown
    ]


def _draw_page(page: pymupdf.Page, number: int, job: PagesJob) -> DrawnPage:
    import pymupdf

    _stand_upright(page, job.turns[number])
    width, height = page.rect.width, page.rect.height
    scale = min(DPI / 72, MAX_SIDE / max(width, height, 1.0))
    pixels = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False)
    name = f"p{number:04d}.jpg"
    (job.folder / name).write_bytes(pixels.tobytes("jpeg", jpg_quality=QUALITY))
    return DrawnPage(page=number, file=name, width=width, height=height)


def _stand_upright(page: pymupdf.Page, turn: float) -> None:
    """Turn a page as for reading: by quarters, then level."""
    if page.rotation:
        page.remove_rotation()
    quarters = round(turn / 90) * 90
    if quarters % 360:
        page.set_rotation(quarters % 360)
        page.remove_rotation()
    if turn != quarters:
        turn_content(page, turn - quarters)


def main() -> None:
    """Draw the pages of the job on standard input and print the result."""
    job = PagesJob.model_validate_json(sys.stdin.read())
    limit_memory(job.memory_mb)
    limit_cpu(_limit_s(job))
    try:
        pages = _draw(job)
    except PaperError as error:
        sys.exit(str(error))
    print(json.dumps([page.model_dump() for page in pages]))


if __name__ == "__main__":
    main()
