"""From the pages of an exam to its problems.

    files -> pages: lines and drawings, from the text layer or an engine    `Opener.open`
          -> flow: figures, and text in reading order, without page heads   `read_document`
          -> drafts: one for each number, with stem and choices             `read_paper`
          -> problems: text, crops, then the answers of keys and solutions  `read_source`

Corrections by people are applied to pages, then to the cut into problems, then to problems.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import PaperError
from omibench.schemas.tables import write_jsonl
from omibench.stages.ocr.corrections.apply import SourceCorrections
from omibench.stages.ocr.corrections.problems import PaperFigures
from omibench.stages.ocr.engines.engine import Engine
from omibench.stages.ocr.engines.readers import RememberingEngine, open_engine, read_recorded
from omibench.stages.ocr.jobs import OcrJob, OcrOutcome
from omibench.stages.ocr.layout.crops import crop_all, crop_formulas, drop_crops
from omibench.stages.ocr.layout.layout import get_text
from omibench.stages.ocr.layout.places import find_places, write_layout
from omibench.stages.ocr.layout.scans import (
    PageReader,
    choose_scale,
    load_pixels,
    picture_page,
    read_locally,
    read_photograph,
)
from omibench.stages.ocr.rereading.crops import CropDesk
from omibench.stages.ocr.rereading.pages import PageRereader
from omibench.stages.ocr.sources.files import (
    MAX_PIXELS,
    check_bytes,
    is_photograph,
    open_pdf,
    photograph_size,
)
from omibench.stages.ocr.structure.answers import Answers
from omibench.stages.ocr.structure.assemble import Crops, list_lines, list_suspects, to_problems
from omibench.stages.ocr.structure.document import (
    FAILED,
    UNREAD,
    Document,
    DocumentPage,
    read_document,
)
from omibench.stages.ocr.structure.drafts import Paper, only_problem, read_paper
from omibench.stages.ocr.structure.key_tables import is_key_file
from omibench.stages.ocr.structure.numbering import UNKNOWN, detect_language

if TYPE_CHECKING:
    import pymupdf


def read_source(job: OcrJob) -> OcrOutcome:
    """Read paper, key and solutions of one source and write its files.

    Raises PaperError if any of its files cannot be read.
    """
    source, folder, dpi = job.source, job.folder, job.params.dpi
    digest = check_bytes(Path(source.paper), source.sha256.get(source.paper))
    for path in source.files[1:]:
        if path != source.key or not is_key_file(path):  # a table is checked as it is read
            check_bytes(Path(path), source.sha256.get(path))
    corrections = SourceCorrections(job.corrections, source.paper)
    opener = Opener(job, corrections)

    pdf, document, codes = opener.open(source.paper)
    _refuse_unread(job, document, codes)
    if source.language is None:
        language = detect_language(get_text(document.flow))
        source = source.model_copy(update={"language": language})
    paper = read_paper(document)
    if not paper.drafts and is_photograph(Path(source.paper)):
        paper = Paper(only_problem(document), [])

    images, crops = f"images/{source.slug}", f"formulas/{source.slug}"
    pictures = list({id(p): p for draft in paper.drafts for p in draft.pictures}.values())
    crop_figures = crop_all(pdf, pictures, folder / images, images, dpi)
    lines = [line for draft in paper.drafts for line in list_lines(draft)]
    formulas = crop_formulas(pdf, lines, folder / crops, crops, dpi)
    problems, dropped = to_problems(
        paper.drafts, source, digest, Crops(crop_figures, formulas), document.words
    )
    problems = corrections.correct_structure(problems)
    answers = Answers(source, problems, paper.block_key)
    answers.add_section(paper.answers, document)
    answers.add_files(opener.open)
    problems = [answers.complete(problem) for problem in problems]

    places = find_places(document, paper) if job.look or job.corrections else []
    corrections.locate(places)
    figures = PaperFigures(pdf, job.pictures, folder / images, images, dpi)
    problems = corrections.correct_problems(problems, figures.make, list_suspects(paper.drafts))
    drop_crops(folder, crops, problems)

    write_jsonl(folder / "problems.jsonl", problems)
    write_jsonl(folder / "pages.jsonl", [page.to_row(source.name) for page in document.pages])
    if job.look:
        write_layout(pdf, document, places, folder / "look")
    codes = [*codes, *document.codes, *dropped, *answers.codes, *corrections.where]
    if not problems and not {"page_needs_ocr", "image_too_large", UNREAD, FAILED} & set(codes):
        codes.append("no_problems")
    if paper.solved:
        codes.append("solutions_only")
    if problems and source.language == UNKNOWN:
        codes.append("language_unknown")
    where = document.locate_codes()
    for code, pages in answers.unread.items():
        where[code] = "; ".join([*([where[code]] if code in where else []), *pages])
    return OcrOutcome(
        codes=list(dict.fromkeys(codes)),
        where=where | answers.where | corrections.where,
        pages=pdf.page_count,
        corrections=corrections.rows,
        unread=opener.unread,
        crops=opener.crops.count,
    )


def _refuse_unread(job: OcrJob, document: Document, codes: list[str]) -> None:
    """Raise PaperError if no page of the paper was read."""
    paper, pages = job.source.paper, document.pages
    if all(UNREAD in page.codes for page in pages):
        limits = f"{job.limit_s(0):g} CPU s, or {job.params.page_timeout_s:g} s a page"
        raise PaperError("paper_timeout", f"{paper}: no page was read in {limits}")
    if all({UNREAD, FAILED} & set(page.codes) for page in pages):
        raise PaperError("paper_failed", f"{paper}: no page can be read")
    if "pdf_repaired" in codes and not any(page.lines or page.regions for page in pages):
        raise PaperError("pdf_damaged", f"{paper}: no page can be read")


class Opener:
    """Opens and reads the files of one source, and notes the pages without a reader.

    PDFs are read by their text layer, their other pages and photographs by an engine. Remote
    engines have written their readings before.
    """

    def __init__(self, job: OcrJob, corrections: SourceCorrections) -> None:
        self.job, self.corrections = job, corrections
        self.unread: dict[int, list[int]] = {}
        self.crops = CropDesk(job.crops, job.readings / "formulas")
        self._engine: Engine | None = None

    def open(self, path: str) -> tuple[pymupdf.Document, Document, list[str]]:
        """Return a file as a PDF and as a document, with the codes of opening it.

        Raises the errors of `open_pdf` and `photograph_size`.
        """
        place = self.job.source.files.index(path)
        read = self._read_photograph if is_photograph(Path(path)) else self._read_pdf
        pdf, document, codes = read(Path(path), place, partial(self._mend, path, place))
        waiting = [page.number for page in document.pages if "page_needs_ocr" in page.codes]
        if waiting:
            self.unread[place] = waiting
            if self.job.params.is_remote:
                self._show(pdf, place, waiting)
        return pdf, document, codes

    def _read_pdf(
        self, path: Path, place: int, mend: Mender
    ) -> tuple[pymupdf.Document, Document, list[str]]:
        job, params = self.job, self.job.params
        allowance = job.allowance(place)
        password = os.environ.get(job.password_env) if job.password_env else None
        pdf, codes = open_pdf(path, params.max_pages, password)
        every = params.pages == "all" and params.engine != "textlayer"
        reader = self._choose_reader(place)
        return pdf, read_document(pdf, reader, every=every, allowance=allowance, mend=mend), codes

    def _read_photograph(
        self, path: Path, place: int, mend: Mender
    ) -> tuple[pymupdf.Document, Document, list[str]]:
        width, height = photograph_size(path)
        if width * height > MAX_PIXELS:
            pdf = picture_page(None)
            document = read_document(pdf)
            document.pages[0].codes[:] = ["image_too_large"]
        elif self.job.read and not self.job.params.is_remote:
            pdf, scanned = read_photograph(path, self._open_engine())
            document = read_document(pdf, lambda page, number: scanned, every=True, mend=mend)
        else:
            pdf = picture_page(load_pixels(path) if self.job.params.is_remote else None)
            document = read_document(pdf, self._choose_reader(place), every=True, mend=mend)
        return pdf, document, []

    def _choose_reader(self, place: int) -> PageReader | None:
        """Return the reader of pages without a text layer of a file, if they are to be read."""
        if not self.job.read:
            return None
        if self.job.params.is_remote:
            return partial(read_recorded, self.job.readings, place)
        return partial(read_locally, self._open_engine())

    def _open_engine(self) -> Engine:
        """Return the local engine; its session is opened once, on first use."""
        name = self.job.params.engine
        if self._engine is None and self.job.params.formula_reader:
            # The paper is read again after formulas have been requested.
            kept = self.job.readings / "engine"
            self._engine = RememberingEngine(name, lambda: open_engine(name), kept)
        elif self._engine is None:
            self._engine = open_engine(name)
        return self._engine

    def _mend(self, path: str, place: int, page: pymupdf.Page, sheet: DocumentPage) -> None:
        """Change a page of a file: reread formulas, then corrections."""
        if self.job.params.formula_reader and sheet.engine != "none":
            rereader = PageRereader(page, sheet.number, self.crops, place)
            sheet.lines = rereader.reread(sheet.lines)
            if sheet.engine == "textlayer" and not sheet.is_scan:
                read = rereader.read_pictures(sheet.lines, sheet.regions)
                sheet.lines, sheet.regions = read
        self.corrections.correct_page(path, sheet)

    def _show(self, pdf: pymupdf.Document, place: int, pages: list[int]) -> None:
        """Write the pictures of pages for another engine."""
        import pymupdf

        self.job.unread_folder.mkdir(parents=True, exist_ok=True)
        for number in pages:
            page = pdf[number - 1]
            scale = choose_scale(page)
            pixels = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB)
            pixels.save(self.job.unread_folder / f"{place}-p{number:04d}.png")


Mender = Callable[["pymupdf.Page", DocumentPage], None]
"""Changes a page before its lines are processed."""
