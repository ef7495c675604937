"""Provenance: how each file of the results was made, and whether it is still as it was written."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from omibench.errors import (
    FileFormatError,
    MissingInputError,
    OmibenchError,
    ParamsError,
    UntrustedError,
)
from omibench.files.outputs import write_atomically
from omibench.files.reading import hash_file, read_bytes, read_json
from omibench.graph.stages import STAGE_NAMES
from omibench.schemas.validation import suggest_name
from omibench.text.lists import list_first


def try_hash(path: Path) -> str:
    """Return the SHA-256 of a file; empty if it is missing or not a regular file."""
    try:
        return hash_file(path)
    except OmibenchError:
        return ""


# Snakemake's metadata of each file: read from its folder, and restored to it.
#
# It lists the parameters, code and inputs of a file, and Snakemake uses it to decide what is
# current. It is in `.snakemake/metadata`, in a file named after the base64 of the path, and
# neither git nor DVC includes it. Without it, Snakemake goes by time stamps alone.

FOLDER = Path(".snakemake")
HERE_ONLY = ("starttime", "endtime", "job_hash", "external_jobid", "shellcmd", "conda_env")
"""Fields about a single run, dropped from the metadata stored with results."""
_NAME = 254
"""Maximum length of a file name minus one; longer names are split into folders."""


def list_recorded_paths() -> set[str]:
    """Return the paths with metadata, or whose job was started and not finished."""
    keys = {path for part in ("metadata", "incomplete") for path in _paths(FOLDER / part)}
    here = f"{Path.cwd()}/"  # a file in a storage is known by its address
    return keys | {key.removeprefix(here) for key in keys}


def read_record(path: str) -> dict[str, Any] | None:
    """Return the origin of a file, without fields about a single run; None if unknown."""
    files = [file for file in (_file(path), _file(str(Path.cwd() / path))) if file.is_file()]
    try:
        values = read_json(max(files, key=os.path.getmtime, default=_file(path)))
    except OmibenchError:
        return None
    if not isinstance(values, dict):
        return None
    return {key: value for key, value in values.items() if key not in HERE_ONLY}


def write_record(path: str, record: dict[str, Any]) -> None:
    """Write Snakemake's metadata of a file."""
    about_here = {"starttime": None, "endtime": Path(path).stat().st_mtime, "shellcmd": None}
    write_atomically(_file(path), json.dumps({**record, **about_here}).encode())


def _file(path: str) -> Path:
    name = urlsafe_b64encode(path.encode()).decode()
    parts = [name[i : i + _NAME] for i in range(0, len(name), _NAME)]
    return FOLDER.joinpath("metadata", *("@" + part for part in parts[:-1]), parts[-1])


def _paths(folder: Path) -> Iterator[str]:
    # Snakemake lists thousands of files at every start: os.walk opens none of them.
    for root, _, files in os.walk(folder):
        begun = [part.removeprefix("@") for part in Path(root).relative_to(folder).parts]
        for file in files:
            try:
                yield urlsafe_b64decode("".join([*begun, file])).decode()
            except ValueError:
                continue


# Notes of the files written by jobs in this folder: hash, size and time of every output file.
#
# A note is in `.snakemake/omibench/made` for each output of a successful job. At its start, a run
# finds files that were edited, exchanged or truncated since (by size and time; only files that
# differ there are read), and a job checks that its inputs are unchanged.

NOTES_FOLDER = FOLDER / "omibench" / "made"
NAMED = 3
"""Maximum number of files in one message."""
EDITED = ("ocr", "filter", "rationale")
"""Stages whose problems are most often edited manually."""


class File(NamedTuple):
    """One file as written; the time is in nanoseconds."""

    sha256: str
    size: int
    modified_ns: int


class Note(NamedTuple):
    """One output of a job, a file or a folder: its path and every file in it."""

    output: str
    files: Mapping[str, File]
    beside: Mapping[str, File]
    """Files that its job wrote in addition to its outputs: pages, plots and tables of a report."""


class ChangedFile(NamedTuple):
    """A file that has changed since it was written, and its output."""

    file: str
    output: str
    reason: str


def note_made(output: str, beside: Iterable[Path] = ()) -> None:
    """Note the files of an output that a job has just written, if any.

    Args:
        output: An output of the job, as known to Snakemake.
        beside: Files that the job wrote and that are not an output of any job. A run does not
            check them, because nothing is made from them; verifying results reads them too.
    """
    files = _describe_files(_files(Path(output)))
    if files:
        _write(Note(output, files, _describe_files(beside)))


def _describe_files(paths: Iterable[Path]) -> dict[str, File]:
    return {path.as_posix(): file for path in paths if (file := _describe_file(path, None))}


def forget_made(output: str) -> None:
    """Delete the note of an output that a job is about to write."""
    _note_file(output).unlink(missing_ok=True)


def read_notes(folder: Path) -> Iterator[Note]:
    """Return the notes of every output below a folder by name; damaged notes are skipped."""
    for path in sorted((NOTES_FOLDER / _safe(folder)).rglob("*.json")):
        if note := _read_note(path):
            yield note


def find_changed_files(folder: Path, reread: bool = False) -> list[ChangedFile]:
    """Return the files below a folder that have changed since they were written.

    Files with the size and time of the note count as unchanged, unless all are to be `reread`. A
    missing output is not included: Snakemake rebuilds it.
    """
    return [change for note in read_notes(folder) for change in _find_changes(note, reread)]


def find_noted_file(path: Path) -> tuple[str, File] | None:
    """Return the output that a file belongs to, and the file as noted; None if nothing is noted."""
    for place in (path, *path.parents):
        if place.name and (note := _read_note(_note_file(str(place)))):
            file = note.files.get(path.as_posix())
            return (note.output, file) if file else None
    return None


def refusal(changed: Iterable[ChangedFile], options: str = "") -> UntrustedError:
    """Return the error with the changed files and the command that rebuilds them.

    `options` of Snakemake are part of that command.
    """
    changes = sorted(changed)
    names = list_first([f"{change.file} {change.reason}" for change in changes], NAMED, "; ")
    outputs = shlex.join(dict.fromkeys(change.output for change in changes))
    options = " ".join(part for part in ("--cores all", options) if part)
    line = (
        f"{names}; nothing is read from it. Restore the original, or rebuild "
        f"it with `snakemake {options} --forcerun {outputs}`; no response is requested twice"
    )
    if any(Path(change.file).parent.name in EDITED for change in changes):
        line += (
            ". A manual edit would be lost there; correct a problem by a decision in the file of "
            "`review.decisions` (`decision: edit`, docs/freezing.md)"
        )
    return UntrustedError(line)


def _find_changes(note: Note, reread: bool) -> Iterator[ChangedFile]:
    output_path = Path(note.output)
    if not output_path.exists():
        return
    now = _compare(note.files, reread)
    yield from _differences(note.output, note.files, now)
    if reread:
        yield from _differences(note.output, note.beside, _compare(note.beside, reread))
    if output_path.is_dir():
        added = {path.as_posix() for path in _files(output_path)} - note.files.keys()
        yield from (ChangedFile(name, note.output, "was added manually") for name in sorted(added))
    present_files = {name: file for name, file in now.items() if file}
    if present_files != note.files and _hashes(present_files) == _hashes(note.files):
        with suppress(OSError):  # touched or copied: the next check need not read it again
            _write(note._replace(files=present_files))


def _compare(noted: Mapping[str, File], reread: bool) -> dict[str, File | None]:
    return {
        name: _describe_file(Path(name), None if reread else file) for name, file in noted.items()
    }


def _differences(
    output: str, noted: Mapping[str, File], now: Mapping[str, File | None]
) -> Iterator[ChangedFile]:
    for name, expected in noted.items():
        file = now[name]
        if file is None:
            yield ChangedFile(name, output, "is missing")
        elif file.sha256 != expected.sha256:
            yield ChangedFile(name, output, describe_change(expected.size, file.size))


def _hashes(files: Mapping[str, File]) -> list[str]:
    return [file.sha256 for file in files.values()]


def describe_change(before: int, after: int) -> str:
    """Describe a change, from the sizes of a file before and after."""
    if after < before:
        return f"was truncated or exchanged after it was made ({after:,} of {before:,} bytes)"
    return "was edited or exchanged after it was made"


def _write(note: Note) -> None:
    text = json.dumps({name: value for name, value in note._asdict().items() if value})
    write_atomically(_note_file(note.output), text.encode())


def _describe_file(path: Path, expected: File | None) -> File | None:
    """Return the state of a file; it is hashed only if it differs from `expected`."""
    try:
        state = path.stat()
    except OSError:
        return None
    place = state.st_size, state.st_mtime_ns
    if expected and place == (expected.size, expected.modified_ns):
        return expected
    return File(try_hash(path), *place)


def _files(output: Path) -> list[Path]:
    if output.is_dir():
        return sorted(path for path in output.rglob("*") if _is_made(path))
    return [output] if output.is_file() else []


def _is_made(path: Path) -> bool:
    """Return whether a job made a file: hidden ones are Snakemake's marks and partial files."""
    return path.is_file() and not path.name.startswith(".")


def _read_note(path: Path) -> Note | None:
    try:
        fields = json.loads(path.read_text("utf-8"))
        files, beside = (
            {name: File(str(h), int(n), int(t)) for name, (h, n, t) in values.items()}
            for values in (fields["files"], fields.get("beside", {}))
        )
        return Note(str(fields["output"]), files, beside)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _note_file(output: str) -> Path:
    place = NOTES_FOLDER / _safe(Path(output))
    return place.with_name(f"{place.name}.json")


def _safe(path: Path) -> Path:
    """Return a path below the notes for any path: `..` and the root are spelt out."""
    parts = ["@up" if part == ".." else part for part in path.parts if part != path.anchor]
    return Path("@root" if path.is_absolute() else "", *parts)


# The file `provenance.json` of a stage: the hash and the origin of each result.
#
# It is in the results folder, so that DVC, rsync or a copy includes it. A mark in `.snakemake`
# identifies the version written or checked here. Results with another version are foreign, and
# Snakemake does not run over them until `omibench trust` has checked them.

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
    _write_record(folder, provenance)
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
    _write_record(folder, provenance.model_copy(update={"files": files, "records": records}))
    if is_known:
        _mark(folder)


def _write_record(folder: Path, provenance: Provenance) -> None:
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
