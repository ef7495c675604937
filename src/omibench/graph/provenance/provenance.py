"""The file `provenance.json` of a stage: the hash of each result and what made it.

It lies beside the results, so that DVC, rsync or a copy takes it along. A mark in `.snakemake`
says which one this folder has written or checked; results with another one are strangers, and
Snakemake is not run over them until `omibench trust` has looked at them.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict

from omibench.errors import FileFormatError, MissingInputError, OmibenchError, ParamsError
from omibench.files.atomic import write_atomically
from omibench.files.intake import read_bytes
from omibench.graph.provenance.hashes import sha256_of
from omibench.graph.provenance.records import FOLDER, list_recorded, read_record, write_record
from omibench.graph.provenance.written_files import changed_files, note_made, refusal
from omibench.graph.stages import STAGE_NAMES
from omibench.schemas.validation import suggest_name

NAME = "provenance.json"
_MARKS = FOLDER / "omibench"


class Provenance(BaseModel):
    """What is known of the results of one stage."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    files: dict[str, str]
    """Path below the stage's folder -> SHA-256 of every file."""
    records: dict[str, dict[str, object]]
    """Path as Snakemake knows it -> its record."""


def record_stage(results: Path, stage: str) -> Provenance:
    """Write the provenance of a stage that was made here, and return it.

    A stage without results gets one that is empty. Raises ParamsError for what is no stage, and
    MissingInputError when a folder holds files and Snakemake knows nothing of them, UntrustedError
    when they are no longer what its jobs have written.
    """
    if stage not in STAGE_NAMES:
        raise ParamsError(f"{stage!r} is no stage{suggest_name(stage, STAGE_NAMES)}")
    folder = results / stage
    if changed := changed_files(folder):
        raise refusal(changed)
    files = {name: sha256_of(folder / name) for name in list_files(folder)}
    records = {}
    for path in sorted(list_recorded()):
        if _is_inside(path, folder) and Path(path).exists() and (found := read_record(path)):
            records[path] = found
    if files and not records:
        raise MissingInputError(
            f"{folder}: nothing says what made its {len(files)} files; delete the folder and make "
            "it again with `snakemake --cores all` (no answer is bought twice)"
        )
    found_all = Provenance(files=files, records=records)
    text = json.dumps(found_all.model_dump(mode="json"), indent=1, sort_keys=True) + "\n"
    write_atomically(folder / NAME, text.encode())
    _mark(folder)
    return found_all


def read_provenance(folder: Path) -> Provenance | None:
    """The provenance of a stage's folder; None without one.

    Raises FileFormatError for one that cannot be read, and for one that speaks of files elsewhere:
    it comes along with results, so that a stranger may have written it.
    """
    path = folder / NAME
    if not path.exists():
        return None
    try:
        known = Provenance.model_validate_json(read_bytes(path))
    except OmibenchError as error:
        raise FileFormatError(str(error)) from None
    except ValueError as error:
        line = str(error).partition("\n")[0]
        raise FileFormatError(f"{path}: cannot be read: {line}") from None
    names = (PurePosixPath(name) for name in known.files)
    paths = (PurePosixPath(name) for name in known.records)
    odd = next((n for n in names if n.is_absolute() or ".." in n.parts), None)
    odd = odd or next((p for p in paths if ".." in p.parts or not _is_inside(str(p), folder)), None)
    if odd is not None:
        raise FileFormatError(
            f"{path}: speaks of {str(odd)!r}, which is none of this stage's files: take the "
            "results from somebody whom you trust"
        )
    return known


def differences(folder: Path, known: Provenance) -> list[tuple[str, str]]:
    """What is not as the provenance says: a file, relative to the folder, and what of it."""
    found = [
        (name, "has changed since it was made" if (folder / name).is_file() else "is missing")
        for name, sha256 in known.files.items()
        if sha256_of(folder / name) != sha256
    ]
    return found + [(path, "is missing") for path in known.records if not Path(path).exists()]


def adopt(folder: Path, known: Provenance) -> None:
    """Let Snakemake know what made the results of a stage, and take them for known here."""
    for path, record in known.records.items():
        if _is_inside(path, folder) and ".." not in Path(path).parts:
            write_record(path, record)
            note_made(path)
    _mark(folder)


def strangers(results: Path, stages: Iterable[str]) -> list[str]:
    """The stages whose results were neither made here nor looked at by `omibench trust`.

    Their provenance is another than the one last seen, or there is none and Snakemake has no
    record of any of their files. Quick: reads no result.
    """
    folders = [results / stage for stage in stages if (results / stage).is_dir()]
    odd = [f for f in folders if (f / NAME).is_file() and _read_mark(f) != sha256_of(f / NAME)]
    bare = [f for f in folders if not (f / NAME).is_file() and any(map(Path.is_file, f.rglob("*")))]
    if bare:
        made = {_stage_folder(results, path) for path in list_recorded()}
        odd += [folder for folder in bare if folder not in made]
    return [folder.name for folder in odd]


def way_out(results: Path, stages: Sequence[str]) -> str:
    """What to do with folders of stages of which nothing says what made them."""
    moved = "; ".join(
        f"mv {shlex.quote(str(results / stage))} "
        f"{shlex.quote(str(results.with_name(f'{results.name}-{stage}-by-hand')))}"
        for stage in stages
    )
    return (
        f"was made by a command by hand, or came here without its {NAME}, so nothing says what "
        f"made it: move it away (`{moved}`) and run snakemake again, which makes it anew; no "
        "answer is bought twice"
    )


def forget(results: Path, paths: Iterable[str]) -> None:
    """Jobs will write these paths: what is kept of their stages holds no longer."""
    for folder in {_stage_folder(results, path) for path in paths}:
        if folder is not None:
            (folder / NAME).unlink(missing_ok=True)
            _mark_file(folder).unlink(missing_ok=True)


def _stage_folder(results: Path, path: str) -> Path | None:
    parts, root = Path(path).parts, results.parts
    is_below = parts[: len(root)] == root and len(parts) > len(root) + 1
    return results / parts[len(root)] if is_below else None


def _is_inside(path: str, folder: Path) -> bool:
    return Path(path).parts[: len(folder.parts)] == folder.parts


def list_files(folder: Path) -> Sequence[str]:
    """The files of a stage, relative to its folder, without what is kept about them."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(str(path.relative_to(folder)) for path in found if path != folder / NAME)


def _mark(folder: Path) -> None:
    write_atomically(_mark_file(folder), sha256_of(folder / NAME).encode())


def _read_mark(folder: Path) -> str:
    try:
        return _mark_file(folder).read_text("utf-8")
    except OSError:
        return ""


def _mark_file(folder: Path) -> Path:
    return _MARKS / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
