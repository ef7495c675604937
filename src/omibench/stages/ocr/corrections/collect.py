"""The corrections of a run: found, read, and given to the sources that they are about."""

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
    """Corrections by the name of their source, and the folder that their pictures lie in."""

    by_source: dict[str, list[CorrectionEntry]]
    folder: Path


def collect_corrections(
    stated: str | None, manifest: Path | None, papers: Sequence[Path], sources: Sequence[Source]
) -> RunCorrections:
    """Read the corrections of a run.

    Args:
        stated: The parameter `ocr.corrections`.
        manifest: That of the sources, where there is one.
        papers: The files that are to be read; none for all of the manifest.
        sources: What is read.

    Raises:
        MissingInputError: The file that is named is not there.
        FileFormatError: An entry is wrong, names no paper of the manifest, or corrects what another
            one corrects already.
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
                f"{path}, line {entry.line}: {entry.correction.paper} is a benchmark, which is not "
                "read: correct its problems in the file that `review.decisions` names"
            )


def list_correction_inputs(params: OcrParams) -> list[str]:
    """The file of corrections and the pictures that it names: a change of them runs `ocr` again.

    Args:
        params: Which name the manifest, and the file where it does not lie beside that.

    Raises:
        MissingInputError: The file that is named is not there.
        FileFormatError: An entry is wrong.
    """
    path = find_corrections(params.corrections, Path(params.sources) if params.sources else None)
    if path is None:
        return []
    return [str(path), *list_pictures(read_corrections(path), path.parent)]
