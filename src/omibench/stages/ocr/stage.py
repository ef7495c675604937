"""The stage `ocr`: reads each source in a separate process and gathers the results."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from omibench.errors import MissingInputError, OmibenchError, OutputError, PaperError
from omibench.files.programs import python_module, run_isolated
from omibench.files.reading import read_text
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import FileReport, OcrReport, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, write_json, write_jsonl
from omibench.stages.ocr import worker
from omibench.stages.ocr.codes import CODES, is_error
from omibench.stages.ocr.corrections.entry import collect_corrections
from omibench.stages.ocr.engines.readers import (
    is_installed,
    list_engine_plugins,
    require,
    require_pdf,
)
from omibench.stages.ocr.jobs import (
    WALL,
    Ahead,
    OcrJob,
    OcrOutcome,
    Unread,
    count_workers,
    page_noted,
)
from omibench.stages.ocr.sources.files import fetch, hash_regular_file
from omibench.stages.ocr.sources.imports import (
    Photographed,
    import_rows,
    keep_whole,
    list_photographed,
    make_rows,
)
from omibench.stages.ocr.sources.manifest import (
    Generated,
    Manifest,
    Rows,
    Source,
    read_manifest,
    select_sources,
)

Look = Callable[[FileReport, Source, Path], None]
"""Called for each source after its reader has left its results in the folder."""
log = logging.getLogger(__name__)
_CROPS = ("images", "formulas")
"""Folders for the crops of a paper's process."""
_MOST_ATTEMPTS = 5
"""Maximum number of times that a source is read again without a page."""
_FAILURES = frozenset({"paper_failed", "paper_out_of_memory"})
_CRASHES = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL})
_OUT_OF_TIME: int | None = getattr(signal, "SIGXCPU", None)
"""The signal for a process whose CPU time is used up; not every system has it."""
_WORKER = python_module(worker.__name__)


def read_papers(  # noqa: PLR0913 - each is an option of the command
    files: Sequence[Path],
    out: Path,
    params: OcrParams,
    *,
    manifest: Path | None = None,
    password_env: str | None = None,
    ahead: Ahead | None = None,
    look: Look | None = None,
) -> OcrReport:
    """Read exam papers into `out`: problems.jsonl, pages.jsonl, report.json, images/.

    Without `files`, the papers of the manifest (`manifest`, otherwise `params.sources`) are read,
    each with its key and solutions. A file that is not in the manifest is read alone. Each source
    is read in a separate process with the time and memory of `params`; a source that fails gets a
    code (docs/errors.md), and the others continue. `password_env` is the environment variable with
    the password of encrypted papers; `ahead` requests pages without a text layer from a remote
    engine; `look` is called for each source before its reader's files are removed.

    Raises MissingInputError if there is nothing to read or the variable is not set, OutputError if
    problems in `out` were edited manually, and the errors of `load_manifest`.
    """
    named = manifest or (Path(params.sources) if params.sources else None)
    sources = select_sources(files, named)
    listing = read_manifest(named) if named and not files else Manifest()
    photographed = list_photographed(listing, named) if named else []
    if not sources and not photographed and not listing.benchmarks and not listing.generators:
        raise MissingInputError("ocr: nothing to read: give papers, or a manifest with --manifest")
    if password_env and password_env not in os.environ:
        raise MissingInputError(f"--password-env: the variable {password_env!r} is not set")
    if sources or photographed:
        require_pdf()
    require(params.engine)
    corrections = collect_corrections(params.corrections, named, files, sources)
    refuse_edited(out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".ocr-") as scratch:
        jobs = [
            OcrJob(
                source=s,
                folder=Path(scratch) / str(k),
                params=params,
                password_env=password_env,
                look=look is not None,
                corrections=corrections.by_source.get(s.name, []),
                pictures=corrections.folder,
                plugins=list_engine_plugins(params.engine),
            )
            for k, s in enumerate([*sources, *(item.source for item in photographed)])
        ]
        with ThreadPoolExecutor(count_workers(len(jobs))) as pool:
            folder = named.parent if named else Path()
            whole = [*(None for _ in sources), *photographed]
            reports = list(pool.map(lambda j, p: _run(j, ahead, folder, p), jobs, whole))
        if look:
            for job, file in zip(jobs, reports, strict=True):
                look(file, job.source, job.folder)
        places = [(job.source.slug, job.folder) for job in jobs]
        taken: set[str] = set()
        entries: list[Rows | Generated] = [*listing.benchmarks, *listing.generators]
        for k, entry in enumerate(entries, len(jobs)):
            place = Path(scratch) / str(k)
            if isinstance(entry, Generated):
                write = partial(make_rows, entry, place, taken)
            else:
                write = partial(import_rows, entry, place)
            reports.append(_read_with_report(entry.name, place, write))
            places.append((entry.slug, place))
        _gather(places, reports, out)
    report = OcrReport(files=reports, problems_sha256=hash_regular_file(out / "problems.jsonl"))
    write_json(out / "report.json", report)
    return report


def refuse_edited(out: Path) -> None:
    """Raise OutputError if `problems.jsonl` in `out` differs from the one in its `report.json`.

    Without a readable report the original is unknown, and nothing is rejected.
    """
    problems = out / "problems.jsonl"
    try:
        report = OcrReport.model_validate_json(read_text(out / "report.json"))
    except (OmibenchError, ValidationError):
        return
    if not problems.is_file() or report.problems_sha256 in (None, hash_regular_file(problems)):
        return
    raise OutputError(
        f"{problems} was edited after reading, and the edits would be lost: move the file away and "
        "run the command again. Write corrections in corrections.yaml (docs/corrections.md)"
    )


def _run(
    job: OcrJob, ahead: Ahead | None, folder: Path, photographed: Photographed | None
) -> FileReport:
    def read() -> OcrOutcome:
        if photographed is None:
            return _outcome(job, ahead, folder)
        is_read = job.params.engine != "textlayer"
        outcome = _outcome(job, ahead, folder) if is_read else OcrOutcome()
        return keep_whole(photographed, job.folder, outcome)

    return _read_with_report(job.source.name, job.folder, read)


def _read_with_report(name: str, folder: Path, read: Callable[[], OcrOutcome]) -> FileReport:
    folder.mkdir(parents=True)
    began = time.monotonic()
    outcome = read()
    seconds = round(time.monotonic() - began, 3)
    if outcome.error:
        code, message = outcome.error
        log.error("%s: %s; %s", code, message, CODES[code].remedy)
        return FileReport(source=name, status="error", codes=[code], seconds=seconds)
    for code in outcome.codes:
        place = f"{name}, {outcome.where[code]}" if code in outcome.where else name
        log.warning("%s: %s: %s; %s", code, place, CODES[code].meaning, CODES[code].remedy)
    return FileReport(
        source=name,
        status="warning" if outcome.codes else "ok",
        seconds=seconds,
        **outcome.model_dump(exclude={"error", "unread", "crops"}),
    )


def _outcome(job: OcrJob, ahead: Ahead | None, folder: Path) -> OcrOutcome:
    """Run a job; pages without text are read in a second run, if any."""
    params = job.params
    try:
        for path, url in job.source.url.items():
            fetch(Path(path), url, job.source.sha256[path], folder)
    except PaperError as error:
        return OcrOutcome(error=(error.code, str(error)))
    outcome = run_job(job)
    if outcome.error:
        return outcome
    waits = params.engine != "textlayer" and any(outcome.unread.values())
    missing = ["engine_missing"] if waits and not is_installed(params.engine) else []
    reads = waits and not missing
    local = {} if params.is_remote else {k: len(pages) for k, pages in outcome.unread.items()}
    job = job.model_copy(update={"read": reads, "waiting": local if reads else {}})
    # Formulas of pages without text are known only after reading these, so they are requested
    # later.
    for unread in (outcome.unread if reads else {}, {}):
        if not outcome.error and (unread or (outcome.crops and ahead)):
            outcome = _read_again(job, ahead, outcome, unread)
    return outcome.model_copy(update={"codes": [*outcome.codes, *missing]})


def _read_again(
    job: OcrJob, ahead: Ahead | None, before: OcrOutcome, unread: Mapping[int, Sequence[int]]
) -> OcrOutcome:
    """Request pages and formulas, and read the paper with the answers."""
    if ahead:
        try:
            ahead(Unread(job.source, job.unread_folder, job.readings, unread, job.crops))
        except OmibenchError as error:
            return OcrOutcome(error=("engine_failed", f"{job.source.paper}: {error}"))
    _drop_crops(job.folder)
    outcome = run_job(job)
    spent = None if outcome.cpu_s is None or before.cpu_s is None else outcome.cpu_s + before.cpu_s
    peaks = [peak for peak in (outcome.peak_mb, before.peak_mb) if peak is not None]
    return outcome.model_copy(update={"cpu_s": spent, "peak_mb": max(peaks, default=None)})


def _drop_crops(folder: Path) -> None:
    """Remove the crops of an earlier process."""
    for kind in _CROPS:
        shutil.rmtree(folder / kind, ignore_errors=True)


def run_job(job: OcrJob) -> OcrOutcome:
    """Read a source in a separate process; skip pages that end it.

    These are one page that exceeds the time limit, and pages on which the reader fails.
    """
    first = outcome = _work(job)
    for _ in range(_MOST_ATTEMPTS):
        code = outcome.error[0] if outcome.error else None
        noted = page_noted(job.note)
        is_late = code == "paper_timeout" and not job.skipped
        if noted is None or not (is_late or code in _FAILURES):
            break
        place, page = noted
        if is_late:
            job = job.model_copy(update={"skipped": {place: [page]}})
        else:
            pages = [*job.failed.get(place, ()), page]
            job = job.model_copy(update={"failed": {**job.failed, place: pages}})
        _drop_crops(job.folder)
        outcome = _work(job)
    return first if outcome.error and outcome.error[0] != "paper_timeout" else outcome


def _work(job: OcrJob) -> OcrOutcome:
    """Run the worker and turn every failure of its process into a code."""
    paper, limit = job.source.paper, job.most_s
    try:
        process = run_isolated(_WORKER, job.model_dump_json(), WALL * limit)
    except subprocess.TimeoutExpired:
        wall = f"{paper}: not read within {WALL * limit:g} s of wall time"
        return OcrOutcome(error=("paper_timeout", wall))
    if process.returncode < 0 and -process.returncode == _OUT_OF_TIME:
        return OcrOutcome(error=("paper_timeout", f"{paper}: not read within {limit:g} CPU s"))
    lines = process.stdout.strip().splitlines()
    if process.returncode == 0 and lines:
        return OcrOutcome.model_validate_json(lines[-1])
    starved = any(
        word in process.stderr for word in ("bad_alloc", "MemoryError", "malloc", "realloc")
    )
    code = "paper_out_of_memory" if starved else "paper_failed"
    last = (process.stderr.strip().splitlines() or ["no message"])[-1]
    end = describe_end(process.returncode)
    return OcrOutcome(error=(code, f"{paper}: the reader {end}: {last}"))


def describe_end(code: int) -> str:
    """Return how a process ended, for a message: with an exit code, or by a signal and why."""
    if code >= 0:
        return f"ended with exit code {code}"
    reason = signal.strsignal(-code) or "unknown signal"
    if -code == signal.SIGKILL:
        reason += ", as the system does if memory is short"
    elif -code in _CRASHES:
        reason += ", a fault in a library that reads PDFs or pictures"
    return f"was ended by signal {-code} ({reason})"


def _gather(places: Sequence[tuple[str, Path]], reports: Sequence[FileReport], out: Path) -> None:
    """Combine the files in the folders of all sources; figures of an earlier run are removed."""
    for kind in _CROPS:
        (out / kind).mkdir(exist_ok=True)  # Snakemake waits for it, also of papers without any
    problems: list[Problem] = []
    pages: list[PageText] = []
    for (slug, folder), report in zip(places, reports, strict=True):
        crops = [Path(kind) / slug for kind in _CROPS]
        for place in crops:
            shutil.rmtree(out / place, ignore_errors=True)
        if any(is_error(code) for code in report.codes):
            continue
        problems += read_jsonl(folder / "problems.jsonl", Problem)
        pages += read_jsonl(folder / "pages.jsonl", PageText)
        for place in crops:
            if (folder / place).is_dir():
                (out / place).parent.mkdir(parents=True, exist_ok=True)
                (folder / place).rename(out / place)
    write_jsonl(out / "problems.jsonl", problems)
    write_jsonl(out / "pages.jsonl", pages)
