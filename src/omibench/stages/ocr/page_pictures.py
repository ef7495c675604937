"""Pictures of the pages with problems, for inspection: `pages/` and `page_pictures.jsonl`, their
index."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, TypeAdapter

from omibench.errors import PaperError
from omibench.files.programs import python_module, run_isolated
from omibench.params.stages.ocr import OcrParams
from omibench.results.paper_pages import TABLE
from omibench.schemas.pages import PagePicture, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.ocr.engines.readers import require_pdf
from omibench.stages.ocr.jobs import GRACE_S, WALL, count_workers, limit_cpu, limit_memory
from omibench.stages.ocr.layout.scans import draw_jpeg, turn_content
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
        turns = {name: dict.fromkeys(numbers, 0.0) for name, numbers in pages.items()}
        for text in texts:
            if text.page in pages.get(text.source, ()):
                turns[text.source][text.page] = text.turn
        papers = [s for s in sources if pages.get(s.name) and not is_photograph(Path(s.paper))]
        with ThreadPoolExecutor(count_workers(len(papers))) as pool:
            drawn = pool.map(
                lambda s: _draw_paper(out, s, turns[s.name], params, password_env), papers
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


def _draw_paper(
    out: Path,
    source: Source,
    turns: Mapping[int, float],
    params: OcrParams,
    password_env: str | None,
) -> list[PagePicture]:
    place = out / PAGES / source.slug
    try:
        drawn = draw_pages(source, turns, place, params, password_env)
    except PaperError as error:
        log.warning("%s; items of this paper are shown without its pages", error)
        return []
    below = place.relative_to(out).as_posix()
    return [row.model_copy(update={"file": f"{below}/{row.file}"}) for row in drawn]


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

    source: Source
    turns: dict[int, float]
    """Pages from 1, and the degrees clockwise by which each was turned for reading."""
    folder: Path
    params: OcrParams
    password_env: str | None = None
    """The environment variable with the password of encrypted papers."""

    @property
    def limit_s(self) -> float:
        """The CPU seconds after which the process is terminated."""
        return GRACE_S + _PAGE_S * len(self.turns)


def draw_pages(
    source: Source,
    turns: Mapping[int, float],
    folder: Path,
    params: OcrParams,
    password_env: str | None = None,
) -> list[PagePicture]:
    """Draw pages of a paper as `p0001.jpg`, ... into a folder.

    Args:
        source: The paper, a PDF.
        turns: Pages from 1, and the degrees clockwise by which each was turned for reading
            (`PageText.turn`).
        folder: Output folder.
        params: Limits of papers; those with more pages are rejected.
        password_env: Environment variable with the password of an encrypted paper.

    Returns:
        The pictures by name in the folder, without missing pages and those too large to be read.

    Raises:
        PaperError: The paper cannot be opened or drawn.
    """
    require_pdf()
    folder.mkdir(parents=True, exist_ok=True)
    job = PagesJob(
        source=source,
        turns=dict(turns),
        folder=folder,
        params=params,
        password_env=password_env,
    )
    try:
        process = run_isolated(python_module(_MODULE), job.model_dump_json(), WALL * job.limit_s)
    except subprocess.TimeoutExpired:
        message = f"{source.paper}: its pages were not drawn in time"
        raise PaperError("paper_timeout", message) from None
    if process.returncode or not process.stdout.strip():
        last = (process.stderr.strip().splitlines() or ["no message"])[-1][:300]
        raise PaperError("paper_failed", f"{source.paper}: its pages cannot be drawn: {last}")
    return _PICTURES.validate_json(process.stdout.strip().splitlines()[-1])


_PICTURES: Final = TypeAdapter(list[PagePicture])


def _draw(job: PagesJob) -> list[PagePicture]:
    password = os.environ.get(job.password_env) if job.password_env else None
    pdf, _ = open_pdf(Path(job.source.paper), job.params.max_pages, password)
    pages = sorted(number for number in job.turns if 1 <= number <= pdf.page_count)
    return [
        _draw_page(pdf[number - 1], number, job)
        for number in pages
        if not has_huge_image(pdf[number - 1])  # too large to be read is too large to be shown
    ]


def _draw_page(page: pymupdf.Page, number: int, job: PagesJob) -> PagePicture:
    _stand_upright(page, job.turns[number])
    data = draw_jpeg(page, DPI, MAX_SIDE, QUALITY)
    name = f"p{number:04d}.jpg"
    (job.folder / name).write_bytes(data)
    return PagePicture(
        source=job.source.name,
        page=number,
        file=name,
        sha256=hashlib.sha256(data).hexdigest(),
        width=page.rect.width,
        height=page.rect.height,
    )


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
    limit_memory(job.params.memory_mb)
    limit_cpu(job.limit_s)
    try:
        pages = _draw(job)
    except PaperError as error:
        sys.exit(str(error))
    print(_PICTURES.dump_json(pages).decode())


if __name__ == "__main__":
    main()
