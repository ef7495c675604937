"""Open and read the files of a source: PDFs by their text layer, others by an engine."""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import PageInk, PageLine, PageText
from omibench.schemas.problem import BBox
from omibench.stages.ocr.allowance import Allowance
from omibench.stages.ocr.corrections.apply import SourceCorrections
from omibench.stages.ocr.formulas.rereading.crops import CropDesk
from omibench.stages.ocr.formulas.rereading.inline_pictures import (
    PicturesRead,
    read_inline_pictures,
)
from omibench.stages.ocr.formulas.rereading.pages import Rereader
from omibench.stages.ocr.layout.layout import Box
from omibench.stages.ocr.layout.photographs import load_pixels, picture_page, read_photograph
from omibench.stages.ocr.layout.scans import choose_scale
from omibench.stages.ocr.readers import Readers
from omibench.stages.ocr.sources.check import MAX_PIXELS, is_photograph, open_pdf, photograph_size
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.structure.document import Document, DocumentPage, read_document

if TYPE_CHECKING:
    import pymupdf


class Work(Protocol):
    """The parameters of a job for opening files."""

    source: Source
    params: OcrParams
    read: bool

    def allowance(self, place: int) -> Allowance: ...

    @property
    def unread_folder(self) -> Path: ...

    @property
    def crops(self) -> Path: ...

    @property
    def readings(self) -> Path: ...


class OpenedFile(NamedTuple):
    """A file as a PDF and as a document, with the codes of opening it."""

    pdf: pymupdf.Document
    document: Document
    codes: list[str]


class Opener:
    """Opens the files of one source, and notes the pages without a reader."""

    def __init__(self, job: Work, password: str | None, corrections: SourceCorrections) -> None:
        self.job, self.password, self.corrections = job, password, corrections
        self.readers = Readers(job.params, job.readings)
        self.unread: dict[int, list[int]] = {}
        self.crops = CropDesk(job.crops, job.readings / "formulas")

    def open(self, path: str) -> OpenedFile:
        """Open and read one file. Raises the errors of `open_pdf`."""
        place = self.job.source.files.index(path)
        opened = self._photograph(path, place) if is_photograph(Path(path)) else self._pdf(path)
        waiting = [s.number for s in opened.document.pages if "page_needs_ocr" in s.codes]
        if waiting:
            self.unread[place] = waiting
            if self.job.params.is_remote:
                self._show(opened.pdf, place, waiting)
        return opened

    def _pdf(self, path: str) -> OpenedFile:
        params, place = self.job.params, self.job.source.files.index(path)
        allowance = self.job.allowance(place)
        pdf, codes = open_pdf(Path(path), params.max_pages, self.password)
        reader = self.readers.choose_reader(place) if self.job.read else None
        every = params.pages == "all" and params.engine != "textlayer"
        mend = self._make_mender(path)
        document = read_document(pdf, reader, every=every, allowance=allowance, mend=mend)
        return OpenedFile(pdf, document, codes)

    def _make_mender(self, path: str) -> Callable[[pymupdf.Page, DocumentPage], None]:
        """Return the changes to the pages of a file: reread formulas, then corrections."""
        correct = self.corrections.make_page_corrector(path)
        place = self.job.source.files.index(path)
        reader = Rereader(self.crops, place)
        rereads = self.job.params.formula_reader is not None

        def mend(page: pymupdf.Page, sheet: DocumentPage) -> None:
            if rereads and sheet.engine != "none":
                sheet.lines = reader.reread(page, sheet.number, sheet.lines)
                if sheet.engine == "textlayer" and not sheet.is_scan:
                    whole = PicturesRead(sheet.lines, sheet.regions)
                    whole = read_inline_pictures(page, sheet.number, whole, self.crops, place)
                    sheet.lines, sheet.regions = whole.lines, whole.regions
            if correct:
                correct(sheet)

        return mend

    def _photograph(self, path: str, place: int) -> OpenedFile:
        params, (width, height) = self.job.params, photograph_size(Path(path))
        if width * height > MAX_PIXELS:
            empty = read_document(picture_page(None))
            empty.pages[0].codes[:] = ["image_too_large"]
            return OpenedFile(picture_page(None), empty, [])
        mend = self._make_mender(path)
        if not self.job.read or params.is_remote:
            pdf = picture_page(load_pixels(Path(path)) if params.is_remote else None)
            reader = self.readers.choose_reader(place) if self.job.read else None
            return OpenedFile(pdf, read_document(pdf, reader, every=True, mend=mend), [])
        photograph = read_photograph(Path(path), self.readers.engine())
        document = read_document(photograph.pdf, photograph.reader, every=True, mend=mend)
        return OpenedFile(photograph.pdf, document, [])

    def _show(self, pdf: pymupdf.Document, place: int, pages: list[int]) -> None:
        """Write the pictures of pages for another engine."""
        import pymupdf

        self.job.unread_folder.mkdir(parents=True, exist_ok=True)
        for number in pages:
            page = pdf[number - 1]
            scale = choose_scale(page)
            pixels = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB)
            pixels.save(self.job.unread_folder / f"{place}-p{number:04d}.png")


def page_text(source: str, sheet: DocumentPage) -> PageText:
    """Return the row of pages.jsonl."""
    lines = [
        PageLine(
            text=line.text,
            bbox=_round(line.box),
            engine=line.engine,
            confidence=line.confidence,
            math_suspect=line.math_suspect or line.stacked,
            left_out=line.left_out or ("furniture" if id(line) in sheet.furniture else None),
            ink_read=_round_down(line.ink_read),
        )
        for line in sheet.lines
    ]
    return PageText(
        source=source,
        page=sheet.number,
        text=sheet.text,
        engine=sheet.engine,
        turn=round(sheet.turn, 2),
        lines=lines,
        ink_read=_round_down(sheet.ink_read),
        unread=[PageInk(bbox=_round(ink.box), what=ink.what) for ink in sheet.unread],
    )


def _round(box: Box) -> BBox:
    return (round(box.x0, 1), round(box.y0, 1), round(box.x1, 1), round(box.y1, 1))


def _round_down(share: float | None) -> float | None:
    """Round a share to four digits; what is not whole stays below 1."""
    return None if share is None else floor(share * 10_000) / 10_000
