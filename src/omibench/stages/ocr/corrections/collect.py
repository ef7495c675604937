"""Find and read the corrections of a run, and assign them to sources."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import FileFormatError
from omibench.params.stages.ocr import OcrParams
from omibench.stages.ocr.corrections.entry import CorrectionEntry
from omibench.stages.ocr.corrections.file import (
    assign_entries,
    find_corrections,
    list_names,
    list_pictures,
    read_corrections,
)
from omibench.stages.ocr.sources.manifest import Source, read_manifest


class RunCorrections(NamedTuple):
    """The corrections by source, and the folder of their pictures."""

    by_source: dict[str, list[CorrectionEntry]]
    folder: Path


def collect_corrections(
    stated: str | None, manifest: Path | None, papers: Sequence[Path], sources: Sequence[Source]
) -> RunCorrections:
    """Read the corrections of a run.

    Args:
        stated: Parameter `ocr.corrections`.
        manifest: Manifest of the sources, if any.
        papers: Files to read; empty for all of the manifest.
        sources: Sources to read.

    Raises:
        MissingInputError: The given file is missing.
        FileFormatError: An entry is invalid, is for an unknown paper, or conflicts with another
            entry.
    """
    path = find_corrections(stated, manifest, papers)
    if path is None:
        return RunCorrections({}, Path())
    entries, names = read_corrections(path), None
    if manifest is not None:
        whole = read_manifest(manifest)
        names = list_names(whole.sources, path.parent)
        _refuse_benchmarks(entries, {rows.name for rows in whole.benchmarks} - {*names}, path)
    return RunCorrections(assign_entries(entries, sources, path, names), path.parent)


def _refuse_benchmarks(
    entries: Sequence[CorrectionEntry], benchmarks: Collection[str], path: Path
) -> None:
    for entry in entries:
        if entry.correction.paper in benchmarks:
            raise FileFormatError(
                f"{path}, line {entry.line}: {entry.correction.paper} is a benchmark and has no "
                "reading: correct its problems in the file `review.decisions`"
            )


def list_correction_inputs(params: OcrParams) -> list[str]:
    """Return the file of corrections and its pictures; `ocr` runs again when they change.

    Args:
        params: Parameters with the manifest, and the file if it is elsewhere.

    Raises:
        MissingInputError: The given file is missing.
        FileFormatError: An entry is invalid.
    """
    path = find_corrections(params.corrections, Path(params.sources) if params.sources else None)
    if path is None:
        return []
    return [str(path), *list_pictures(read_corrections(path), path.parent)]
