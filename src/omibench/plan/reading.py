"""The requests of page readers and formula readers, counted on the papers themselves.

The papers are opened as `ocr` opens them, so a request that is stored is known by its key. What
follows a missing answer is estimated: the blocks of a page whose layout is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from omibench.client.progress import track
from omibench.files.hashes import hash_file
from omibench.params.study import Study
from omibench.plan.dry import NOT_YET, DryRun
from omibench.plan.rows import ReadingCounts
from omibench.plan.view import Step, StudyView
from omibench.schemas.pages import PageText
from omibench.schemas.request import Request, Response
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.engines import mathpix
from omibench.stages.ocr.engines.presets import mineru
from omibench.stages.ocr.jobs import Unread
from omibench.stages.ocr.read_ahead import send_formulas, send_pages
from omibench.stages.ocr.sources.check import is_photograph
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.waiting import find_waiting, list_sources

BLOCKS: Final = 15
"""Blocks of a page whose layout is not stored; an assumption about exam papers."""
_OLMOCR_ASKS: Final = 2
"""olmOCR is asked again about a page that is not upright."""
_GUESSED_LAYOUT: Final = NOT_YET.model_copy(
    update={
        "outcome": "answered",
        "text": "\n".join(
            f"<|box_start|>100 {y} 900 {y + 40}<|box_end|><|ref_start|>text<|ref_end|>"
            for y in range(50, 50 + 60 * BLOCKS, 60)
        ),
    }
)


class Reading(NamedTuple):
    """The requests of readers, and what is not counted."""

    steps: list[Step]
    counts: ReadingCounts


def names_readers(study: Study) -> bool:
    """Return whether a study of papers names a reader of pages or formulas, or Mathpix."""
    return study.benchmark.name == "papers" and study.ocr.asks_ahead


@contextmanager
def plan_reading(view: StudyView) -> Iterator[Reading | None]:
    """Yield the requests of readers; None if the study names none, or lists no papers.

    The pictures of the requests exist within this context only.

    Raises:
        MissingInputError: A paper or folder of the manifest is missing.
        FileFormatError: The manifest is invalid.
    """
    study = view.study
    if not names_readers(study) or study.ocr.sources is None:
        yield None
        return
    with TemporaryDirectory(prefix="omibench-plan-") as folder:
        yield _read_papers(view, list_sources(Path(study.ocr.sources)), Path(folder))


def count_reader_asks(study: Study) -> float:
    """Return the maximum number of requests of a page reader as a multiple of the expected one."""
    return _OLMOCR_ASKS if study.ocr.preset == "olmocr" else 1


def _read_papers(view: StudyView, sources: list[Source], folder: Path) -> Reading:
    dry, mathpix_counts = DryRun(view, _guess_reply, chained=True), _MathpixCounts(view.study)
    papers = find_waiting(sources, view.study.ocr, folder, _make_ahead(dry, mathpix_counts))
    waiting = [next(papers) for _ in track(sources, "paper")]
    reads_lines = view.study.ocr.formula_reader is not None
    scanned = sum(paper.scanned for paper in waiting) if reads_lines else 0
    counts = ReadingCounts(
        unopened={paper.source: paper.fault for paper in waiting if paper.fault},
        scanned_pages=scanned,
        scanned_lines=_count_doubtful_lines(view.study) if scanned else None,
        mathpix_pages=mathpix_counts.pages,
        mathpix_formulas=mathpix_counts.formulas,
    )
    return Reading(dry.steps, counts)


def _guess_reply(request: Request) -> Response:
    """Return no reply, or the layout of a typical page."""
    return _GUESSED_LAYOUT if mineru.LAYOUT_TASK in request.conversation.text else NOT_YET


def _make_ahead(dry: DryRun, counts: _MathpixCounts) -> Callable[[Unread], None]:
    study = dry.view.study

    def ahead(unread: Unread) -> None:
        if unread.pages and study.ocr.engine == "vision":
            send_pages(dry.asking(study.ocr.reader or ""), study, unread)
        elif unread.pages:
            counts.add_pages(unread)
        elif study.ocr.formula_model:
            send_formulas(dry.asking(study.ocr.formula_model), study, unread)
        else:
            counts.add_formulas(unread)

    return ahead


class _MathpixCounts:
    """Pages and crops without an answer of Mathpix in the store."""

    def __init__(self, study: Study) -> None:
        self.pages = self.formulas = 0
        self._folder = Path(study.study.store) / mathpix.NAME
        self._crops: set[str] = set()

    def add_pages(self, unread: Unread) -> None:
        for place, numbers in unread.pages.items():
            path = Path(unread.source.files[place])
            if is_photograph(path):
                digest = hash_file(unread.picture(place, 1))
                kept = mathpix.locate_image_answer(self._folder, digest)
            else:
                kept = mathpix.locate_pdf_answer(self._folder, hash_file(path))
            self.pages += 0 if kept.is_file() else len(numbers)

    def add_formulas(self, unread: Unread) -> None:
        digests = {hash_file(path) for path in unread.crops.glob("*.png")} if unread.crops else ()
        for digest in digests:
            if digest not in self._crops:
                self._crops.add(digest)
                kept = mathpix.locate_image_answer(self._folder, digest)
                self.formulas += not kept.is_file()


def _count_doubtful_lines(study: Study) -> int | None:
    """Return the lines of scans that may hold formulas; None before `ocr`."""
    pages = Path(study.study.results) / "ocr" / "pages.jsonl"
    if not pages.is_file():
        return None
    return sum(
        line.math_suspect and not line.left_out
        for page in read_jsonl(pages, PageText)
        if page.engine == study.ocr.engine
        for line in page.lines
    )
