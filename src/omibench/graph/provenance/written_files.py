"""What the jobs of this folder have written: hash, size and time of every file of an output.

A note lies in `.snakemake/omibench/made` for each output of a job that has ended well. By it a run
sees at its start which files were edited, exchanged or cut off since (a look at size and time;
only what differs there is read), and a job that the files it reads are those that were made.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from omibench.errors import UntrustedError
from omibench.files.atomic import write_atomically
from omibench.graph.provenance.hashes import try_hash
from omibench.graph.provenance.records import FOLDER

NOTES_FOLDER = FOLDER / "omibench" / "made"
NAMED = 3
"""Files that one line names."""
EDITED = ("ocr", "filter", "rationale")
"""Stages whose problems people are tempted to edit by hand."""


class File(NamedTuple):
    """One file as it was made; the time is in nanoseconds."""

    sha256: str
    size: int
    modified_ns: int


class Note(NamedTuple):
    """One output of a job, a file or a folder: its path and every file in it."""

    output: str
    files: Mapping[str, File]
    beside: Mapping[str, File]
    """Files that its job has written besides its outputs: pages, plots and tables of a report."""


class ChangedFile(NamedTuple):
    """A file that is no longer what was made, and the output of which it is a part."""

    file: str
    output: str
    reason: str


def note_made(output: str, beside: Iterable[Path] = ()) -> None:
    """Note the files of an output that a job has just written; nothing where there are none.

    Args:
        output: One output of the job, as Snakemake knows it.
        beside: Files that it has written and that are no output of any job. A run does not look at
            them, since nothing is made from them; to verify results is to read them too.
    """
    files = _describe_files(_files(Path(output)))
    if files:
        _write(Note(output, files, _describe_files(beside)))


def _describe_files(paths: Iterable[Path]) -> dict[str, File]:
    return {path.as_posix(): file for path in paths if (file := _describe_file(path, None))}


def forget_made(output: str) -> None:
    """A job is about to write an output: what was noted of it holds no longer."""
    _note_file(output).unlink(missing_ok=True)


def read_notes(folder: Path) -> Iterator[Note]:
    """The notes of every output below a folder, by name. One that is damaged is left out."""
    for path in sorted((NOTES_FOLDER / _safe(folder)).rglob("*.json")):
        if note := _read_note(path):
            yield note


def find_changed_files(folder: Path, reread: bool = False) -> list[ChangedFile]:
    """The files below a folder that are not what was made there.

    Files whose size and time are those of the note are taken for unchanged, unless all are to be
    `reread`. An output that is not there is none of them: Snakemake rebuilds it.
    """
    return [change for note in read_notes(folder) for change in _find_changes(note, reread)]


def find_noted_file(path: Path) -> tuple[str, File] | None:
    """The output that a file is a part of and what it was; None where nothing is noted of it."""
    for place in (path, *path.parents):
        if place.name and (note := _read_note(_note_file(str(place)))):
            file = note.files.get(path.as_posix())
            return (note.output, file) if file else None
    return None


def refusal(changed: Iterable[ChangedFile], options: str = "") -> UntrustedError:
    """The error that names files which were changed and the command that rebuilds them.

    `options` of Snakemake stand in that command.
    """
    changes = sorted(changed)
    names = [f"{change.file} {change.reason}" for change in changes[:NAMED]]
    suffix = f" (and {len(changes) - NAMED:,} more)" if len(changes) > NAMED else ""
    outputs = shlex.join(dict.fromkeys(change.output for change in changes))
    options = " ".join(part for part in ("--cores all", options) if part)
    line = (
        f"{'; '.join(names)}{suffix}: nothing is read from it. Bring back what was there, or "
        f"rebuild it with `snakemake {options} --forcerun {outputs}`; no answer is bought "
        "twice"
    )
    if any(Path(change.file).parent.name in EDITED for change in changes):
        line += (
            ". An edit by hand would be lost there: correct a problem by a decision in the file "
            "that `review.decisions` names (`decision: edit`, docs/building.md)"
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
        yield from (ChangedFile(name, note.output, "was added by hand") for name in sorted(added))
    present_files = {name: file for name, file in now.items() if file}
    if present_files != note.files and _hashes(present_files) == _hashes(note.files):
        with suppress(OSError):  # touched or copied: the next look need not read it again
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
    """In words, from the bytes that a file had and has."""
    if after < before:
        return f"was cut off or exchanged after it was made ({after:,} of {before:,} bytes)"
    return "was edited or exchanged after it was made"


def _write(note: Note) -> None:
    text = json.dumps({name: value for name, value in note._asdict().items() if value})
    write_atomically(_note_file(note.output), text.encode())


def _describe_file(path: Path, expected: File | None) -> File | None:
    """A file as it is; its hash is read only where it is not as it was `expected`."""
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
    """Snakemake marks folders by a hidden file of its own; what is written in parts is hidden."""
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
    """A path below the notes for a path anywhere: `..` and the root are spelt out."""
    parts = ["@up" if part == ".." else part for part in path.parts if part != path.anchor]
    return Path("@root" if path.is_absolute() else "", *parts)
