"""Hash of a file that can be missing."""

from __future__ import annotations

import json
import os
import shlex
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from omibench.errors import OmibenchError, UntrustedError
from omibench.files.reading import hash_file, read_json
from omibench.files.writing import write_atomically
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
    """Return the output of a file and its noted state; None if there is no note."""
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
