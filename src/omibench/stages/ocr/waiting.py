"""Find what the readers of a study would be sent, without sending it.

The papers are read as in a run, each in a separate process, but by no engine: pages without a text
layer and doubtful formulas are handed to a callback, which can answer them from the store.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from omibench.params.stages.ocr import OcrParams
from omibench.stages.ocr.engines.readers import list_engine_plugins, require_pdf
from omibench.stages.ocr.jobs import Ahead, OcrJob, OcrOutcome, Unread, count_workers
from omibench.stages.ocr.sources.imports import list_photographed
from omibench.stages.ocr.sources.manifest import Source, read_manifest, select_sources
from omibench.stages.ocr.stage import run_job

_HEADER_BYTES: Final = 16_384
"""The part of a picture that is kept: its size is in the first bytes."""


class PaperWaiting(NamedTuple):
    """What is not known about a source before `ocr`."""

    source: str
    scanned: int = 0
    """Pages that a local engine reads first, so that their doubtful lines are not known."""
    fault: str = ""
    """Why the source could not be read at all."""


def list_sources(manifest: Path) -> list[Source]:
    """Return the papers and photographs of a manifest. Raises the errors of `read_manifest`."""
    papers = select_sources([], manifest)
    photographed = list_photographed(read_manifest(manifest), manifest)
    return [*papers, *(item.source for item in photographed)]


def find_waiting(
    sources: Sequence[Source], params: OcrParams, folder: Path, ahead: Ahead
) -> Iterator[PaperWaiting]:
    """Read papers, and call `ahead` with the pages and formulas that a reader would be sent.

    Nothing is downloaded, and corrections are not applied: they do not change requests. The crops
    and pictures in `folder` are shortened to their headers after each source.

    Args:
        sources: Papers and photographs; see `list_sources`.
        params: Parameters of the stage.
        folder: Empty folder for crops and pictures.
        ahead: Called once for the pages of a source, and once for its formulas, if there are any.

    Raises:
        MissingExtraError: PyMuPDF is not installed.
    """
    require_pdf()
    jobs = [_make_job(source, params, folder / str(k)) for k, source in enumerate(sources)]
    with ThreadPoolExecutor(count_workers(len(jobs))) as pool:
        for job, outcome in zip(jobs, pool.map(_read, jobs), strict=True):
            yield _ask(job, outcome, ahead)
            _shorten_pictures(job.folder)


def _make_job(source: Source, params: OcrParams, folder: Path) -> OcrJob:
    plugins = list_engine_plugins(params.engine)
    return OcrJob(source=source, folder=folder, params=params, plugins=plugins)


def _read(job: OcrJob) -> OcrOutcome:
    absent = [path for path in job.source.url if not Path(path).exists()]
    if absent:
        return OcrOutcome(error=("download_failed", "not downloaded yet"))
    job.folder.mkdir(parents=True)
    return run_job(job)


def _ask(job: OcrJob, outcome: OcrOutcome, ahead: Ahead) -> PaperWaiting:
    name, scanned = job.source.name, 0
    if outcome.error is None and outcome.unread and job.params.is_remote:
        ahead(Unread(job.source, job.unread_folder, job.readings, outcome.unread))
        if job.params.formula_reader and job.readings.is_dir():
            outcome = run_job(job.model_copy(update={"read": True}))
    elif outcome.error is None and job.params.engine != "textlayer":
        scanned = sum(len(pages) for pages in outcome.unread.values())
    if outcome.error:
        return PaperWaiting(name, fault=outcome.error[1])
    if outcome.crops:
        ahead(Unread(job.source, job.unread_folder, job.readings, {}, job.crops))
    return PaperWaiting(name, scanned)


def _shorten_pictures(folder: Path) -> None:
    for path in folder.rglob("*.png"):
        if path.stat().st_size > _HEADER_BYTES:
            os.truncate(path, _HEADER_BYTES)
