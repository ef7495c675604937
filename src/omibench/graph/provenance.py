"""The file `provenance.json` of a stage: the hash and the origin of each result.

It is in the results folder, so that DVC, rsync or a copy includes it. A mark in `.snakemake`
identifies the version written or checked here. Results with another version are foreign, and
Snakemake does not run over them until `omibench trust` has checked them.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from omibench.errors import FileFormatError, MissingInputError, OmibenchError, ParamsError
from omibench.files.reading import read_bytes
from omibench.files.writing import write_atomically
from omibench.graph.stages import STAGE_NAMES
from omibench.graph.written_files import (
    FOLDER,
    ChangedFile,
    describe_change,
    find_changed_files,
    find_noted_file,
    list_recorded_paths,
    note_made,
    read_notes,
    read_record,
    refusal,
    try_hash,
    write_record,
)
from omibench.schemas.validation import suggest_name

NAME = "provenance.json"
STUDY_FILE = "study.json"
"""The record of the study (`results.study_record`), which no job writes."""
_MARKS = FOLDER / "omibench"


class Provenance(BaseModel):
    """Provenance of the results of one stage."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    files: dict[str, str]
    """Path below the stage's folder -> SHA-256, for every file."""
    records: dict[str, dict[str, object]]
    """Path in Snakemake -> its metadata."""


def record_stage(results: Path, stage: str) -> Provenance:
    """Write and return the provenance of a stage that was made here.

    A stage without results gets an empty one. Raises ParamsError for an unknown stage,
    MissingInputError if a folder has files without Snakemake metadata, and UntrustedError if
    files have changed since their jobs wrote them.
    """
    if stage not in STAGE_NAMES:
        raise ParamsError(f"{stage!r} is not a stage{suggest_name(stage, STAGE_NAMES)}")
    folder = results / stage
    if changed := find_changed_files(folder):
        raise refusal(changed)
    files = {name: try_hash(folder / name) for name in list_files(folder)}
    records = {}
    for path in sorted(list_recorded_paths()):
        if (
            Path(path).is_relative_to(folder)
            and Path(path).exists()
            and (record := read_record(path))
        ):
            records[path] = record
    if files and not records:
        raise MissingInputError(
            f"{folder}: the origin of its {len(files)} files is unknown; delete the folder and "
            "make it again with `snakemake --cores all` (no response is requested twice)"
        )
    provenance = Provenance(files=files, records=records)
    _write(folder, provenance)
    _mark(folder)
    return provenance


def drop_removed_files(folder: Path) -> None:
    """Drop the files of a stage that no longer exist from its provenance.

    Raises FileFormatError if it cannot be read.
    """
    provenance = read_provenance(folder)
    if provenance is None:
        return
    is_known = _read_mark(folder) == try_hash(folder / NAME)
    files = {name: hash for name, hash in provenance.files.items() if (folder / name).exists()}
    records = {path: facts for path, facts in provenance.records.items() if Path(path).exists()}
    _write(folder, provenance.model_copy(update={"files": files, "records": records}))
    if is_known:
        _mark(folder)


def _write(folder: Path, provenance: Provenance) -> None:
    text = json.dumps(provenance.model_dump(mode="json"), indent=1, sort_keys=True) + "\n"
    write_atomically(folder / NAME, text.encode())


def read_provenance(folder: Path) -> Provenance | None:
    """Read the provenance of a stage's folder; None if missing.

    Raises FileFormatError if it cannot be read or lists files outside the stage: it comes with
    results, so its content is untrusted.
    """
    path = folder / NAME
    if not path.exists():
        return None
    try:
        provenance = Provenance.model_validate_json(read_bytes(path))
    except OmibenchError as error:
        raise FileFormatError(str(error)) from None
    except ValueError as error:
        line = str(error).partition("\n")[0]
        raise FileFormatError(f"{path}: cannot be read: {line}") from None
    names = (PurePosixPath(name) for name in provenance.files)
    paths = (PurePosixPath(name) for name in provenance.records)
    odd = next((n for n in names if n.is_absolute() or ".." in n.parts), None)
    odd = odd or next((p for p in paths if ".." in p.parts or not p.is_relative_to(folder)), None)
    if odd is not None:
        raise FileFormatError(
            f"{path}: lists {str(odd)!r}, which is not a file of this stage; get the results "
            "from a source you trust"
        )
    return provenance


def list_differences(folder: Path, provenance: Provenance) -> list[tuple[str, str]]:
    """Return the deviations from the provenance: files relative to the folder, and problems."""
    changes = [
        (name, "has changed since it was made" if (folder / name).is_file() else "is missing")
        for name, sha256 in provenance.files.items()
        if try_hash(folder / name) != sha256
    ]
    return changes + [
        (path, "is missing") for path in provenance.records if not Path(path).exists()
    ]


def adopt(folder: Path, provenance: Provenance) -> None:
    """Restore the Snakemake metadata of a stage's results, and mark them as known here."""
    for path, record in provenance.records.items():
        if Path(path).is_relative_to(folder) and ".." not in Path(path).parts:
            write_record(path, record)
            note_made(path)
    _mark(folder)


def find_strangers(results: Path, stages: Iterable[str]) -> list[str]:
    """Return the stages whose results were neither made here nor checked by `omibench trust`.

    Their provenance differs from the last known one, or they have neither provenance nor
    Snakemake metadata. Fast: reads no result.
    """
    folders = [results / stage for stage in stages if (results / stage).is_dir()]
    odd = [f for f in folders if (f / NAME).is_file() and _read_mark(f) != try_hash(f / NAME)]
    bare = [f for f in folders if not (f / NAME).is_file() and any(_iterate_files(f))]
    if bare:
        recorded_folders = {find_stage_folder(results, path) for path in list_recorded_paths()}
        odd += [folder for folder in bare if folder not in recorded_folders]
    return [folder.name for folder in odd]


def suggest_way_out(results: Path, stages: Sequence[str]) -> str:
    """Return the remedy for folders of stages whose origin is unknown."""
    moved = "; ".join(
        f"mv {shlex.quote(str(results / stage))} "
        f"{shlex.quote(str(results.with_name(f'{results.name}-{stage}-by-hand')))}"
        for stage in stages
    )
    return (
        f"was made outside the graph, or was copied without its {NAME}, so its origin is "
        f"unknown; move it away (`{moved}`) and run snakemake again, which rebuilds it; no "
        "response is requested twice"
    )


def forget(results: Path, paths: Iterable[str]) -> None:
    """Invalidate the provenance of stages to which jobs will write these paths."""
    for folder in {find_stage_folder(results, path) for path in paths}:
        if folder is not None:
            (folder / NAME).unlink(missing_ok=True)
            _mark_file(folder).unlink(missing_ok=True)


def find_stage_folder(results: Path, path: str) -> Path | None:
    """Return the folder of the stage that a path is below; None for any other path."""
    parts = Path(path).relative_to(results).parts if Path(path).is_relative_to(results) else ()
    return results / parts[0] if len(parts) > 1 else None


def list_files(folder: Path) -> Sequence[str]:
    """Return the files of a stage that its jobs wrote, relative to its folder."""
    return sorted(_iterate_files(folder))


def _iterate_files(folder: Path) -> Iterator[str]:
    others = {folder / NAME, folder / STUDY_FILE}
    for path in folder.rglob("*"):
        if path not in others and path.is_file():
            yield str(path.relative_to(folder))


def _mark(folder: Path) -> None:
    write_atomically(_mark_file(folder), try_hash(folder / NAME).encode())


def _read_mark(folder: Path) -> str:
    try:
        return _mark_file(folder).read_text("utf-8")
    except OSError:
        return ""


def _mark_file(folder: Path) -> Path:
    return _MARKS / hashlib.sha256(str(folder).encode()).hexdigest()[:16]


# Verification of a study's results: every file is read and compared.


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


# Check of job inputs: they must be unchanged since an earlier job wrote them.


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
