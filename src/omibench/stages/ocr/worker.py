"""Read one exam in a separate process with bounded memory: `-m omibench.stages.ocr.worker`.

The job comes as JSON on standard input; problems, pages and figures go into the job's folder, and
the outcome, as one line of JSON, to standard output.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from omibench.errors import PaperError, PluginError
from omibench.params.plugins import PluginFile, load_plugins
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import CorrectionRow, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import write_jsonl
from omibench.stages.ocr.allowance import (
    GRACE_S,
    Allowance,
    cpu_spent,
    limit_cpu,
    limit_memory,
)
from omibench.stages.ocr.corrections.apply import SourceCorrections
from omibench.stages.ocr.corrections.entry import CorrectionEntry
from omibench.stages.ocr.corrections.figures import PaperFigures
from omibench.stages.ocr.keys.key_files import is_key_file, read_key_file
from omibench.stages.ocr.keys.keys import Key
from omibench.stages.ocr.keys.solutions import PrintedQuestion, read_solutions
from omibench.stages.ocr.keys.tabular import read_key
from omibench.stages.ocr.layout.crops import crop_all
from omibench.stages.ocr.layout.formula_crops import crop_formulas, drop_crops
from omibench.stages.ocr.layout.layout import Item, Line
from omibench.stages.ocr.layout.places import find_places, write_layout
from omibench.stages.ocr.sources.check import check_bytes, is_photograph
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.sources.opening import Opener, page_text
from omibench.stages.ocr.structure.assemble import (
    Crops,
    list_lines,
    list_suspects,
    to_problems,
    with_answers,
)
from omibench.stages.ocr.structure.document import FAILED, UNREAD, Document
from omibench.stages.ocr.structure.drafts import Paper, read_paper
from omibench.stages.ocr.structure.language import UNKNOWN, detect_language
from omibench.stages.ocr.structure.single import only_problem

_MAX_LISTED = 5
"""The number of key lines that a message lists."""


class OcrJob(BaseModel):
    """The job of the process. `password_env` is a variable's name; the password itself is not
    passed."""

    source: Source
    folder: Path
    params: OcrParams
    password_env: str | None = None
    read: bool = False
    """Reads pages without a text layer; without it such pages are only reported."""
    waiting: dict[int, int] = {}
    """The number of pages of each file, by index, that a local engine reads."""
    skipped: dict[int, list[int]] = {}
    """Pages of each file to skip, because an earlier process was terminated on them."""
    failed: dict[int, list[int]] = {}
    """Pages of each file to skip, because an earlier process failed on them."""
    plugins: list[PluginFile] = []
    """Files that provide engines, which this process has to load."""
    corrections: list[CorrectionEntry] = []
    """The corrections of this source."""
    pictures: Path = Path()
    """The base folder of pictures in corrections."""
    look: bool = False
    """Whether to keep pictures of the pages and their contents for `omibench.ocr_view`."""

    @property
    def unread_folder(self) -> Path:
        """The folder of page pictures for a remote engine."""
        return self.folder / "unread"

    @property
    def crops(self) -> Path:
        """The folder of formula crops for a remote reader."""
        return self.folder / "crops"

    @property
    def note(self) -> Path:
        """The file that notes the page being read."""
        return self.folder / "page"

    def allowance(self, place: int) -> Allowance:
        """Start and return the time allowance of one file."""
        skipped, failed = self.skipped.get(place, ()), self.failed.get(place, ())
        return Allowance(self.limit_s(place), self.note, place, skipped, failed)

    def limit_s(self, place: int) -> float:
        """The CPU seconds in which pages of one file are started."""
        params = self.params
        return params.timeout_s + self.waiting.get(place, 0) * params.page_timeout_s

    @property
    def most_s(self) -> float:
        """The CPU seconds after which the process is terminated."""
        return sum(self.limit_s(place) for place in range(len(self.source.files))) + GRACE_S

    @property
    def readings(self) -> Path:
        """The folder with answers of remote engines."""
        return self.folder / "readings"


class OcrOutcome(BaseModel):
    """The result of a job: `error` is a code and its message, or None.

    `where` lists the pages of the paper by code.
    """

    codes: list[str] = []
    where: dict[str, str] = {}
    pages: int = 0
    error: tuple[str, str] | None = None
    corrections: list[CorrectionRow] = []
    unread: dict[int, list[int]] = {}
    """The pages of each file of the source, by index, that no engine has read."""
    crops: int = 0
    """The number of formulas that wait for the formula reader."""
    cpu_s: float | None = None
    peak_mb: int | None = None


def read_source(job: OcrJob) -> OcrOutcome:
    """Read paper, key and solutions of one source and write its files.

    Raises PaperError if any of its files cannot be read.
    """
    source = job.source
    password = os.environ.get(job.password_env) if job.password_env else None
    digest = check_bytes(Path(source.paper), source.sha256.get(source.paper))
    for path in source.files[1:]:
        if path == source.key and is_key_file(path):
            continue  # it is checked as it is read
        check_bytes(Path(path), source.sha256.get(path))
    corrections = SourceCorrections(job.corrections, source.paper)
    return _read_files(job, digest, Opener(job, password, corrections), corrections)


def _read_files(
    job: OcrJob, digest: str, opener: Opener, corrections: SourceCorrections
) -> OcrOutcome:
    source = job.source
    pdf, document, codes = opener.open(source.paper)
    if source.language is None:
        language = detect_language(" ".join(i.text for i in document.flow if isinstance(i, Line)))
        source = source.model_copy(update={"language": language})
    if all(UNREAD in sheet.codes for sheet in document.pages):
        limit = job.limit_s(0)
        raise PaperError("paper_timeout", f"{source.paper}: no page was read in {limit:g} CPU s")
    if all({UNREAD, FAILED} & set(sheet.codes) for sheet in document.pages):
        raise PaperError("paper_failed", f"{source.paper}: no page can be read")
    if "pdf_repaired" in codes and not any(s.lines or s.regions for s in document.pages):
        raise PaperError("pdf_damaged", f"{source.paper}: no page can be read")
    paper = read_paper(document)
    if not paper.drafts and is_photograph(Path(source.paper)):
        paper = Paper(only_problem(document), [])
    pictures = {id(p): p for draft in paper.drafts for p in draft.pictures}
    prefix = f"images/{source.slug}"
    figures = crop_all(pdf, list(pictures.values()), job.folder / prefix, prefix, job.params.dpi)
    crops = f"formulas/{source.slug}"
    asked = [line for draft in paper.drafts for line in list_lines(draft)]
    formulas = crop_formulas(pdf, asked, job.folder / crops, crops, job.params.dpi)
    problems, dropped = to_problems(
        paper.drafts, source, digest, Crops(figures, formulas), document.words
    )
    problems = corrections.correct_structure(problems)
    answers = _Answers(job, opener, problems)
    answers.add_section(paper.answers, document)
    answers.add_files()
    keys = (answers.key, answers.stated, paper.block_key)
    problems = [with_answers(p, keys, answers.solutions.get(p.number)) for p in problems]
    places = find_places(document, paper) if job.look or job.corrections else []
    corrections.locate(places, source.paper)
    changed = PaperFigures(pdf, job.pictures, job.folder / prefix, prefix, job.params.dpi)
    problems = corrections.correct_problems(problems, changed, list_suspects(paper.drafts))
    drop_crops(job.folder, crops, problems)
    _write(job, problems, [page_text(source.name, sheet) for sheet in document.pages])
    if job.look:
        write_layout(pdf, document, places, job.folder / "look")
    misfits = ["correction_misfit"] if corrections.misfits else []
    all_codes = [*codes, *document.codes, *dropped, *answers.codes, *misfits]
    if not problems and not {"page_needs_ocr", "image_too_large", UNREAD, FAILED} & set(all_codes):
        all_codes.append("no_problems")
    if paper.solved:
        all_codes.append("solutions_only")
    if problems and source.language == UNKNOWN:
        all_codes.append("language_unknown")
    return OcrOutcome(
        codes=list(dict.fromkeys(all_codes)),
        where=_locate_codes(document, answers.unread) | answers.where | _locate(corrections),
        pages=pdf.page_count,
        corrections=corrections.rows,
        unread=opener.unread,
        crops=opener.crops.count,
    )


def _locate_codes(paper: Document, other_documents: Mapping[str, Document]) -> dict[str, str]:
    """Return the pages of the paper by code, and the pages of all files that were not read."""
    places = paper.locate_codes()
    for path, document in other_documents.items():
        for code in (UNREAD, FAILED):
            if code in document.codes:
                pages = f"{document.locate_codes()[code]} of {Path(path).name}"
                places[code] = f"{places[code]}; {pages}" if code in places else pages
    return places


def _locate(corrections: SourceCorrections) -> dict[str, str]:
    """Return a description of the corrections that no longer fit."""
    misfits = [
        f"line {row.line}, {row.kind} of {row.where} by {row.by} ({row.reason})"
        for row in corrections.misfits
    ]
    remainder = f" and {len(misfits) - _MAX_LISTED} more" if len(misfits) > _MAX_LISTED else ""
    listing = "; ".join(misfits[:_MAX_LISTED])
    return {"correction_misfit": f"{listing}{remainder}"} if misfits else {}


class _Answers:
    """The answers and solutions of one source, from all its files."""

    def __init__(self, job: OcrJob, opener: Opener, problems: list[Problem]) -> None:
        self.job, self.opener = job, opener
        self.asked = {p.number: _build_question(p) for p in problems}
        self.key, self.stated = Key(), Key()
        self.solutions: dict[str, str] = {}
        self.codes: list[str] = []
        self.where: dict[str, str] = {}
        self.unread: dict[str, Document] = {}
        """Files with pages that were not read in time, or on which the reader failed."""

    def add_section(self, flow: list[Item], document: Document) -> None:
        """Read the section of answers at the end of the paper itself."""
        if flow:
            self.key = read_key(flow, self.asked.keys())
            self.stated, self.solutions = read_solutions(flow, self.asked, document.words)

    def add_files(self) -> None:
        """Read the key and solutions given in the manifest; they override the section."""
        source = self.job.source
        for path in dict.fromkeys(p for p in (source.key, source.solutions) if p):
            if path == source.key and is_key_file(path):
                self._add_key_file(path)
                continue
            _, document, codes = self.opener.open(path)
            self.codes += [*codes, *document.codes]
            if {UNREAD, FAILED} & set(document.codes):
                self.unread[path] = document
            stated, texts = read_solutions(document.flow, self.asked, document.words, document.size)
            key = read_key(document.flow, self.asked.keys())
            if path == source.key:
                self.key = key if len(key) >= len(stated) else stated
            else:
                self.stated = stated
            if path == source.solutions:
                self.solutions |= texts
            explains = path == source.solutions and bool(texts)
            if self.asked and not len(key) and not len(stated) and not explains:
                self.codes.append("key_unread")

    def _add_key_file(self, path: str) -> None:
        self.key, strange = read_key_file(path, self.job.source.sha256.get(path), self.asked.keys())
        if strange:
            self.codes.append("key_number_unknown")
            listing = ", ".join(
                f"line {entry.line} ({entry.number!r})" for entry in strange[:_MAX_LISTED]
            )
            remainder = (
                f" and {len(strange) - _MAX_LISTED} more" if len(strange) > _MAX_LISTED else ""
            )
            self.where["key_number_unknown"] = f"{Path(path).name}: {listing}{remainder}"
        if self.asked and not len(self.key):
            self.codes.append("key_unread")


def _build_question(problem: Problem) -> PrintedQuestion:
    choices = " ".join(f"({c.label}) {c.text or ''}" for c in problem.choices or [])
    return PrintedQuestion(problem.question, choices)


def _write(job: OcrJob, problems: list[Problem], pages: list[PageText]) -> None:
    write_jsonl(job.folder / "problems.jsonl", problems)
    write_jsonl(job.folder / "pages.jsonl", pages)


def _measure_use() -> tuple[float | None, int | None]:
    """Return the CPU seconds and peak memory, in MiB, of this process."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        spent = resource.getrusage(resource.RUSAGE_SELF)
        unit = 2**20 if sys.platform == "darwin" else 2**10
        peak = _own_peak_kib()
        peak_mib = spent.ru_maxrss // unit if peak is None else peak // 2**10
        return round(cpu_spent(), 2), peak_mib
    return None, None


def _own_peak_kib() -> int | None:
    """Return the peak memory of this program; `ru_maxrss` includes the parent's at the start."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text("ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return None


def main() -> None:
    """Run the job on standard input and print its result."""
    text = sys.stdin.read()
    try:
        load_plugins(json.loads(text), whole_study=False)
        job = OcrJob.model_validate_json(text)
    except PluginError as error:
        print(OcrOutcome(error=("paper_failed", str(error))).model_dump_json())
        return
    limit_memory(job.params.memory_mb)
    limit_cpu(job.most_s)
    try:
        outcome = read_source(job)
    except PaperError as error:
        outcome = OcrOutcome(error=(error.code, str(error)))
    except MemoryError:
        outcome = OcrOutcome(
            error=("paper_out_of_memory", f"{job.source.paper}: needs more memory")
        )
    except Exception as error:
        lacks_memory = any(
            w in str(error).lower() for w in ("malloc", "calloc", "realloc", "bad_alloc")
        )
        code = "paper_out_of_memory" if lacks_memory else "paper_failed"
        detail = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        outcome = OcrOutcome(error=(code, f"{job.source.paper}: {detail}"))
    outcome.cpu_s, outcome.peak_mb = _measure_use()
    print(json.dumps(outcome.model_dump()))


if __name__ == "__main__":
    main()
