"""Check of job inputs: they must be unchanged since an earlier job wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from omibench.errors import OmibenchError
from omibench.graph.provenance.hashes import try_hash
from omibench.graph.provenance.provenance import NAME, Provenance, read_provenance
from omibench.graph.provenance.written_files import (
    ChangedFile,
    describe_change,
    find_noted_file,
    read_notes,
    refusal,
)


def frozen_files(results: Path) -> list[Path]:
    """Frozen questions and answers of a results folder."""
    return [results / "freeze" / f"{name}.jsonl" for name in ("questions", "answers")]


def check_inputs(*paths: Path | None) -> None:
    """Raise UntrustedError with one line if an input has changed since it was written.

    A file is compared with the note of its job, or otherwise with the provenance of its stage; a
    file in neither is accepted. A folder represents all outputs below it.
    """
    changes = [
        change
        for path in _inputs(paths)
        if path.is_file() and (change := _find_change(path)) is not None
    ]
    if changes:
        raise refusal(changes)


def _inputs(paths: Iterable[Path | None]) -> Iterator[Path]:
    for path in paths:
        if path is not None and path.is_dir():
            for note in read_notes(path):
                yield from map(Path, note.files)
        elif path is not None:
            yield path


def _find_change(path: Path) -> ChangedFile | None:
    if noted := find_noted_file(path):
        output, file = noted
        if try_hash(path) == file.sha256:
            return None
        return ChangedFile(path.as_posix(), output, describe_change(file.size, path.stat().st_size))
    expected = _find_recorded_hash(path)
    if expected is None or try_hash(path) == expected:
        return None
    return ChangedFile(path.as_posix(), path.as_posix(), describe_change(0, path.stat().st_size))


def _find_recorded_hash(path: Path) -> str | None:
    """Return the hash in the stage's provenance.json; None if absent."""
    for folder in path.parents:
        if provenance := _read(folder):
            return provenance.files.get(path.relative_to(folder).as_posix())
    return None


@cache
def _read(folder: Path) -> Provenance | None:
    if not (folder / NAME).is_file():
        return None
    try:
        return read_provenance(folder)
    except OmibenchError:
        return None
