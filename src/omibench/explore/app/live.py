"""A study that is reloaded when its files change."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import polars as pl

from omibench.errors import OmibenchError
from omibench.explore.app.pictures import PictureFinder
from omibench.explore.app.settings import ExplorerSources
from omibench.explore.app.tags import TagFolder
from omibench.explore.index import INDEX_FROM, CellReader, Index
from omibench.explore.run import Run, open_run, read_items
from omibench.explore.search import build_index
from omibench.explore.selection import Study
from omibench.results.study_files import RECORD
from omibench.review.folder import FileSignature, sign_file
from omibench.stages.analyze.explorer.requests import Trail

LOOK_S: Final = 1.0
"""How long files are assumed to be unchanged."""
Stamp = tuple[tuple[Path, FileSignature], ...]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A study as read at one moment; equal only to itself.

    Attributes:
        study: Items, verdicts and comparisons.
        sources: Its files.
        warnings: Problems in reading, one line each.
        tags: The tags of its users.
    """

    study: Study
    sources: ExplorerSources
    warnings: tuple[str, ...] = ()
    tags: TagFolder = field(default_factory=lambda: TagFolder(None))

    @cached_property
    def pictures(self) -> PictureFinder:
        """Return the pictures of the study."""
        return PictureFinder(self.study.items, self.sources)

    @cached_property
    def trail(self) -> Trail:
        """Return the requests of the study's store, which may be missing."""
        folder = self.study.items.folder
        return Trail(self.sources.store or folder / "store", folder.parent / "pictures", folder)


class LiveStudy:
    """A study with reloading. Changed files are read again; if one is being written, the previous
    snapshot is kept.
    """

    def __init__(self, sources: ExplorerSources, look_s: float = LOOK_S) -> None:
        """Read the files.

        Args:
            sources: The files.
            look_s: Seconds for which files are assumed to be unchanged.

        Raises:
            MissingInputError: A folder contains no results or no dataset.
            FileFormatError: The folder cannot be read.
        """
        self._sources = sources
        self._look_s = look_s
        self._lock = threading.Lock()
        self._index = Index(sources.index) if sources.index else None
        self._readers = CellReader(self._index), CellReader()
        self._tags = TagFolder(sources.review or sources.pages)
        self._stamp = stamp_files(sources)
        self._snapshot = self._read()
        self._looked = time.monotonic()

    def read(self) -> Snapshot:
        """Return the current snapshot of the study."""
        with self._lock:
            if time.monotonic() - self._looked >= self._look_s:
                self._renew()
                self._looked = time.monotonic()
            return self._snapshot

    def index(self) -> int | None:
        """Compute what the first pages need, and write the index of a large run unless it exists.

        Returns:
            Its size in bytes; None if the run is small, or the index has no folder or cannot be
            written.
        """
        run = self.read().study.run
        if run is not None:
            self.read().study.prepare()
        if run is None or self._index is None or run.responses.height < INDEX_FROM:
            return None
        try:
            build_index(run, self._readers[0], self._index)
            return self._index.measure()
        except (OSError, pl.exceptions.PolarsError):  # the index is optional
            return None

    def _renew(self) -> None:
        stamp = stamp_files(self._sources)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._snapshot = self._read()
        except OmibenchError as error:
            before = self._snapshot
            self._snapshot = replace(before, warnings=(str(error),))

    def _read(self) -> Snapshot:
        sources = self._sources
        items = read_items(sources.dataset, sources.pictures)
        run = self._open(sources.results, 0) if sources.results else None
        other = self._open(sources.other, 1) if sources.other else None
        warnings = (*(run.unreadable if run else ()), *(other.unreadable if other else ()))
        study = Study(items, run, other, self._index, self._tags.list_names)
        return Snapshot(study, sources, warnings, self._tags)

    def _open(self, folder: Path, place: int) -> Run:
        sources = self._sources
        reader = self._readers[place]
        run = open_run(folder, sources.labels, sources.main_rules, reader, sources.order)
        return replace(run, stated_settings=sources.pooled_settings)


def stamp_files(sources: ExplorerSources) -> Stamp:
    """Return the signature of every file of a study."""
    return tuple((path, sign_file(path)) for path in _list_files(sources))


def _list_files(sources: ExplorerSources) -> Iterator[Path]:
    for name in ("questions.jsonl", "answers.jsonl", "manifest.json"):
        yield sources.dataset / name
    for folder in (sources.results, sources.other):
        for stage in ("infer", "score", "aggregate") if folder else ():
            assert folder is not None
            yield from sorted((folder / stage).glob("*/*.parquet"))
    if sources.results is not None:
        yield sources.results / RECORD
        yield sources.results / "ocr" / "page_pictures.jsonl"
    if sources.pages is not None:
        yield sources.pages / "tasks.jsonl"
