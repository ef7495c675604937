"""Reading every file of a study's results again: are they what was made?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from omibench.graph.provenance.provenance import differences, list_files, read_provenance
from omibench.graph.provenance.written_files import Changed, changed_files, read_notes


class Verified(NamedTuple):
    """What was found: files that are what was made, files that are not, and those nobody knows."""

    files: int
    changed: list[Changed]
    unknown: list[str]


def verify_results(results: Path, stages: Iterable[str]) -> Verified:
    """Compare every file of the stages with the note of its job and its stage's provenance.

    Raises FileFormatError for a provenance that cannot be read.
    """
    known: set[str] = set()
    changed: dict[str, Changed] = {}
    unknown: list[str] = []
    for stage in stages:
        folder = results / stage
        own = {name for note in read_notes(folder) for name in (*note.files, *note.beside)}
        changed |= {one.file: one for one in changed_files(folder, reread=True)}
        if provenance := read_provenance(folder):
            own |= {(folder / name).as_posix() for name in provenance.files}
            for name, why in differences(folder, provenance):
                file = (folder / name).as_posix()
                changed.setdefault(file, Changed(file, file, why))
        known |= own
        unknown += [
            path
            for name in list_files(folder)
            if (path := (folder / name).as_posix()) not in own
            and not Path(name).name.startswith(".")
        ]
    return Verified(len(known - changed.keys()), sorted(changed.values()), unknown)
