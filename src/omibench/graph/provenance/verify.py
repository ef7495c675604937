"""Verification of a study's results: every file is read and compared."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from omibench.graph.provenance.provenance import list_differences, list_files, read_provenance
from omibench.graph.provenance.written_files import ChangedFile, find_changed_files, read_notes


class ResultVerification(NamedTuple):
    """Number of unchanged files, the changed files, and the number of files without provenance."""

    files: int
    changed: list[ChangedFile]
    unknown: list[str]


def verify_results(results: Path, stages: Iterable[str]) -> ResultVerification:
    """Compare every file of the stages with the note of its job and its stage's provenance.

    Raises FileFormatError if a provenance cannot be read.
    """
    known_files: set[str] = set()
    changed: dict[str, ChangedFile] = {}
    unknown: list[str] = []
    for stage in stages:
        folder = results / stage
        stage_files = {name for note in read_notes(folder) for name in (*note.files, *note.beside)}
        changed |= {change.file: change for change in find_changed_files(folder, reread=True)}
        if provenance := read_provenance(folder):
            stage_files |= {(folder / name).as_posix() for name in provenance.files}
            for name, reason in list_differences(folder, provenance):
                file = (folder / name).as_posix()
                changed.setdefault(file, ChangedFile(file, file, reason))
        known_files |= stage_files
        unknown += [
            path
            for name in list_files(folder)
            if (path := (folder / name).as_posix()) not in stage_files
            and not Path(name).name.startswith(".")
        ]
    return ResultVerification(len(known_files - changed.keys()), sorted(changed.values()), unknown)
