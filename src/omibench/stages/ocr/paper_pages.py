"""Pictures of the pages with problems, for inspection: `pages/` and `page_pictures.jsonl`, their
index."""

from __future__ import annotations

import logging
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from omibench.errors import PaperError
from omibench.files.hashes import hash_file
from omibench.params.stages.ocr import OcrParams
from omibench.results.paper_pages import TABLE
from omibench.schemas.pages import PagePicture, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.ocr.jobs import count_workers
from omibench.stages.ocr.page_pictures import draw_pages
from omibench.stages.ocr.sources.check import is_photograph
from omibench.stages.ocr.sources.manifest import Source

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
